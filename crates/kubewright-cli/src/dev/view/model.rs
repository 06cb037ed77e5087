//! The content of the screen.

use std::collections::VecDeque;

use crate::dev::board::Board;
use crate::dev::reconciled::Reconciled;

/// The number of log lines, and of reconciles, that are stored.
const CAPACITY: usize = 500;

/// The content of the screen.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The name of the operator's folder.
    pub(super) title: String,
    /// The command line of kubectl for the cluster.
    pub(super) kubectl: String,
    /// The state of the operator.
    pub(super) state: String,
    pub(super) board: Board,
    /// Reconciles that have ended, newest last.
    pub(super) reconciles: VecDeque<Reconciled>,
    /// The log of the operator and of `dev` itself, newest last.
    pub(super) log: VecDeque<String>,
}

impl Model {
    /// Adds a line to the log, without its colors, because the screen has its own.
    pub(super) fn log(&mut self, line: &str) {
        self.log.push_back(without_escapes(line));
        while self.log.len() > CAPACITY {
            self.log.pop_front();
        }
    }

    /// Adds a reconcile.
    pub(super) fn reconciled(&mut self, reconciled: &Reconciled) {
        self.reconciles.push_back(reconciled.clone());
        while self.reconciles.len() > CAPACITY {
            self.reconciles.pop_front();
        }
    }
}

/// Returns the line without escape sequences and control characters.
fn without_escapes(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // `ESC [ parameters letter`
            '\u{1b}' => {
                letters.find(|c| c.is_ascii_alphabetic());
            }
            '\t' => text.push_str("    "),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Model};

    #[test]
    fn log_keeps_the_newest_lines_without_colors() {
        let mut model = Model::default();
        for number in 0..=CAPACITY {
            model.log(&format!("\u{1b}[2m{number}\u{1b}[0m\tdone"));
        }
        assert_eq!(model.log.len(), CAPACITY);
        assert_eq!(model.log.back().unwrap(), &format!("{CAPACITY}    done"));
    }
}
