//! Speed and memory, beside the peers, as ratios of one run.
//!
//! `bench/README.md` says how to run a benchmark and what its columns mean.

mod cache;
mod cluster;
mod command;
mod error;
mod machine;
mod output;
mod queue;
mod reading;
mod results;
mod subject;
mod table;
mod versions;

use std::process::ExitCode;

use clap::Parser as _;
use kubewright_bench_subject::chain;

use crate::command::{Benchmark, Command};

#[tokio::main]
async fn main() -> ExitCode {
    let command = Command::parse();
    let result = match &command.benchmark {
        Benchmark::Cache(options) => cache::run(options).await,
        Benchmark::Queue(options) => queue::run(options).await,
        Benchmark::Cluster(options) => cluster::run(options).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {}", chain(&error)));
            ExitCode::FAILURE
        }
    }
}
