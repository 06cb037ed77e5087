//! The command as a user calls it.

mod book;
mod charts;
mod check;
mod cluster;
mod comfort;
mod data;
mod deployed;
mod dev;
mod egress;
mod flow;
mod image;
mod kubelet;
mod policies;
mod scaffold;
mod shapes;
mod ship;
mod terminal;
mod tools;
mod tutorial;
mod types;

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

/// Says why a test, or part of it, did not run.
#[expect(
    clippy::print_stderr,
    reason = "libtest captures what the macro prints"
)]
fn skipped(reason: impl std::fmt::Display) {
    eprintln!("skipped: {reason}");
}
