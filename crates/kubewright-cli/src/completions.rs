//! `kubewright completions`: the completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::Error;
use crate::output::print;

/// The arguments of `kubewright completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell that reads the script.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion script for a shell.
pub(crate) fn run(arguments: &CompletionsArguments, mut command: Command) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "kubewright", &mut script);
    print(&String::from_utf8_lossy(&script))
}
