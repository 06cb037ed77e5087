use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::Error;
use crate::output::print;

/// What `kubewright completions` is called with.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell that is to read it.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script that makes a shell complete the command's words.
pub(crate) fn run(arguments: &CompletionsArguments, mut command: Command) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "kubewright", &mut script);
    print(&String::from_utf8_lossy(&script))
}
