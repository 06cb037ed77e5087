//! The command `kubewright`.

mod check;
mod cluster;
mod command;
mod completions;
mod create;
mod dev;
mod doctor;
mod embedded;
mod error;
mod form;
mod former;
mod generate;
mod image;
mod init;
mod interrupt;
mod kubeconfig;
mod objects;
mod output;
mod program;
mod project;
mod ship;
mod source;
mod version;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

fn main() -> ExitCode {
    match command::Arguments::parse_or_answer().and_then(command::Arguments::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::fail(&error);
            ExitCode::FAILURE
        }
    }
}
