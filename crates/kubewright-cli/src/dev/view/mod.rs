//! What `kubewright dev` shows: plain lines, or a full screen on a terminal.

mod draw;
mod model;
mod screen;

use std::fmt::Display;

use super::board::Board;
use super::reconciled::Reconciled;
use crate::error::Error;
use crate::output;
use crate::output_format::OutputFormat;
use crate::program::BuildOutput;
pub(super) use screen::Screen;

/// Where `dev` shows what happens.
pub(super) enum View {
    /// Lines on standard output and standard error.
    Lines(OutputFormat),
    /// The whole terminal.
    Screen(Box<Screen>),
}

impl View {
    /// Returns the format of the result.
    pub(super) fn format(&self) -> OutputFormat {
        match self {
            Self::Lines(format) => *format,
            Self::Screen(_) => OutputFormat::Text,
        }
    }

    /// Returns what happens to the messages of a build: on a screen, they must not be printed.
    pub(super) fn build_output(&self) -> BuildOutput {
        match self {
            Self::Lines(_) => BuildOutput::Shown,
            Self::Screen(_) => BuildOutput::Captured,
        }
    }

    /// Shows a line of the log.
    pub(super) fn note(&mut self, line: impl Display) {
        match self {
            Self::Lines(_) => output::note(line),
            Self::Screen(screen) => screen.log(&line.to_string()),
        }
    }

    /// Shows a reconcile that has ended.
    pub(super) fn reconciled(&mut self, reconciled: &Reconciled) {
        match self {
            Self::Lines(_) => output::note(format_args!("reconcile {reconciled}")),
            Self::Screen(screen) => screen.reconciled(reconciled),
        }
    }

    /// Shows an error with its causes.
    pub(super) fn error(&mut self, error: &Error) {
        match self {
            Self::Lines(_) => output::print_error(error),
            Self::Screen(screen) => {
                for line in output::error_lines(error) {
                    screen.log(&line);
                }
            }
        }
    }

    /// Shows the state of the operator in a few words.
    pub(super) fn state(&mut self, state: &str) {
        match self {
            Self::Lines(_) => output::note(state),
            Self::Screen(screen) => screen.state(state),
        }
    }

    /// Shows the state of the cluster.
    pub(super) fn board(&mut self, board: &Board, previous: &Board) {
        match self {
            Self::Lines(format) => {
                for line in board.changes_since(previous) {
                    format.progress(line);
                }
            }
            Self::Screen(screen) => screen.board(board.clone()),
        }
    }

    /// Waits until the user quits the screen.
    ///
    /// # Cancel safety
    ///
    /// Safe: a key that is pressed later is handled by the next call.
    pub(super) async fn quit(&mut self) {
        match self {
            Self::Lines(_) => std::future::pending().await,
            Self::Screen(screen) => screen.quit().await,
        }
    }
}
