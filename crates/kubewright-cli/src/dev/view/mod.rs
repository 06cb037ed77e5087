//! What `kubewright dev` shows: plain lines, or a full screen on a terminal.

mod draw;
mod model;
mod screen;

use std::fmt::Display;

use super::board::Board;
use super::reconciled::Reconciled;
use crate::error::Error;
use crate::output::note;
use crate::output_format::OutputFormat;
pub(super) use screen::Screen;

/// Where things are shown.
pub(super) enum View {
    /// One line after another.
    Lines(OutputFormat),
    /// A screen that is drawn anew.
    Screen(Box<Screen>),
}

impl View {
    /// How the end is told.
    pub(super) fn form(&self) -> OutputFormat {
        match self {
            Self::Lines(form) => *form,
            Self::Screen(_) => OutputFormat::Text,
        }
    }

    /// Something about the work itself.
    pub(super) fn note(&mut self, line: impl Display) {
        match self {
            Self::Lines(_) => note(line),
            Self::Screen(screen) => screen.log(&line.to_string()),
        }
    }

    /// A reconcile that has ended.
    pub(super) fn reconciled(&mut self, reconciled: &Reconciled) {
        match self {
            Self::Lines(_) => note(format_args!("reconcile {reconciled}")),
            Self::Screen(screen) => screen.reconciled(reconciled),
        }
    }

    /// Something that failed, with its causes.
    pub(super) fn fail(&mut self, error: &Error) {
        match self {
            Self::Lines(_) => crate::output::fail(error),
            Self::Screen(screen) => {
                for line in crate::output::causes(error) {
                    screen.log(&line);
                }
            }
        }
    }

    /// What the operator is doing, in a word or two.
    pub(super) fn state(&mut self, state: &str) {
        match self {
            Self::Lines(_) => note(state),
            Self::Screen(screen) => screen.state(state),
        }
    }

    /// The cluster as it is now.
    pub(super) fn board(&mut self, board: &Board, former: &Board) {
        match self {
            Self::Lines(form) => {
                for line in board.changes_since(former) {
                    form.tell(line);
                }
            }
            Self::Screen(screen) => screen.board(board.clone()),
        }
    }

    /// Waits until the person at the screen wants to end it.
    ///
    /// # Cancel safety
    ///
    /// Safe: a key that comes later is seen by the next call.
    pub(super) async fn quit(&mut self) {
        match self {
            Self::Lines(_) => std::future::pending().await,
            Self::Screen(screen) => screen.quit().await,
        }
    }
}
