//! The command `kubewright`.

mod check;
mod cluster;
mod cluster_access;
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
mod private_file;
mod program;
mod project;
mod source;
mod version;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

fn main() -> ExitCode {
    let outcome = command::Arguments::read().and_then(command::Arguments::run);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::FAILURE
        }
    }
}
