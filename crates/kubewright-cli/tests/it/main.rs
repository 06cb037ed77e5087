//! The command as a user calls it.

mod cluster;
mod data;
mod dev;
mod flow;
mod scaffold;
mod shapes;
mod ship;
mod terminal;

use std::process::{Command, Output};

/// The command with these arguments.
fn kubewright(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.args(arguments);
    command
}

/// What a failed call said on standard error.
fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
