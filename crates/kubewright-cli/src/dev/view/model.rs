use std::collections::VecDeque;

use crate::dev::board::Board;
use crate::dev::reconciled::Reconciled;

/// How many lines of the log, and how many reconciles, are kept.
const KEPT: usize = 500;

/// What is on the screen.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The operator's folder.
    pub(super) title: String,
    /// How to use kubectl beside it.
    pub(super) kubectl: String,
    /// What the operator is doing.
    pub(super) state: String,
    pub(super) board: Board,
    /// Reconciles that have ended, newest last.
    pub(super) reconciles: VecDeque<Reconciled>,
    /// The operator's log, and what `dev` itself says, newest last.
    pub(super) log: VecDeque<String>,
}

impl Model {
    /// Adds a line to the log; colours are left out, because the screen has its own.
    pub(super) fn log(&mut self, line: &str) {
        self.log.push_back(without_escapes(line));
        while self.log.len() > KEPT {
            self.log.pop_front();
        }
    }

    /// Adds a reconcile.
    pub(super) fn reconciled(&mut self, reconciled: &Reconciled) {
        self.reconciles.push_back(reconciled.clone());
        while self.reconciles.len() > KEPT {
            self.reconciles.pop_front();
        }
    }
}

/// The text without the escape sequences that terminals read.
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
    use super::{KEPT, Model};

    #[test]
    fn the_log_keeps_its_end_without_colours() {
        let mut model = Model::default();
        for number in 0..=KEPT {
            model.log(&format!("\u{1b}[2m{number}\u{1b}[0m\tdone"));
        }
        assert_eq!(model.log.len(), KEPT);
        assert_eq!(model.log.back().unwrap(), &format!("{KEPT}    done"));
    }
}
