use clap::{Args, ValueEnum};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value on standard output.
    Json,
}

/// The flag that chooses it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormFlag {
    /// For people, or one JSON value for programs.
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    pub(crate) output: Form,
}
