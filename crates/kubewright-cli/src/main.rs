//! The command `kubewright`.

mod check;
mod cluster;
mod command;
mod completions;
mod create;
mod deploy;
mod dev;
mod doctor;
mod embedded;
mod error;
mod generate;
mod image;
mod init;
mod interrupt;
mod kubebuilder_compat;
mod kubeconfig;
mod objects;
mod output;
mod output_format;
mod program;
mod project;
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
