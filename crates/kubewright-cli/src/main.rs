//! The command `kubewright`.

mod cluster;
mod command;
mod create;
mod dev;
mod embedded;
mod error;
mod former;
mod init;
mod interrupt;
mod kubeconfig;
mod objects;
mod output;
mod program;
mod project;
mod ship;
mod source;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match command::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::fail(&error);
            ExitCode::FAILURE
        }
    }
}
