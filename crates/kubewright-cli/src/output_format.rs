use std::fmt::Display;

use clap::{Args, ValueEnum};

use crate::output::{note, say};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value on standard output.
    Json,
}

impl OutputFormat {
    /// Tells what happens: people read it as the answer, programs beside it.
    pub(crate) fn tell(self, line: impl Display) {
        match self {
            Self::Text => say(line),
            Self::Json => note(line),
        }
    }
}

/// The flag that chooses it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputFlag {
    /// For people, or one JSON value for programs.
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    pub(crate) output: OutputFormat,
}
