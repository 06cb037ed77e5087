//! Tests of the command as users call it.

mod book;
mod charts;
mod check;
mod cluster;
mod command_line;
mod data;
mod deploy;
mod deployed;
mod dev;
mod dev_process;
mod egress;
mod image;
mod kubelet;
mod nested_build;
mod new_project;
mod policies;
mod scaffold;
mod target_cluster;
mod terminal;
mod tools;
mod tutorial;
mod types;

use std::process::{Command, Output};

/// Returns the command with these arguments.
fn kubewright(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.args(arguments);
    command
}

/// Returns the standard error of a call that failed with exit code 1.
fn error_of(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    stderr(output)
}

/// Returns the standard output of a call.
fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the standard error of a call.
fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Prints why a test, or part of it, did not run.
#[expect(
    clippy::print_stderr,
    reason = "libtest captures what the macro prints"
)]
fn skipped(reason: impl std::fmt::Display) {
    eprintln!("skipped: {reason}");
}
