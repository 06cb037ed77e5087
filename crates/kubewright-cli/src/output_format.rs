//! The flag `--output`: text for people or JSON for programs.

use std::fmt::Display;

use clap::{Args, ValueEnum};

use crate::output::{note, print_line};

/// The format of a command's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value on standard output.
    Json,
}

impl OutputFormat {
    /// Prints a line of progress: with text to standard output, with JSON to standard error.
    pub(crate) fn progress(self, line: impl Display) {
        match self {
            Self::Text => print_line(line),
            Self::Json => note(line),
        }
    }
}

/// The flag that selects the format.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputFlag {
    /// Text for people, or one JSON value for programs.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: OutputFormat,
}
