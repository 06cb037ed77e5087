//! Benchmarks of kubewright and its peers: time and memory, as ratios within one run.
//!
//! `bench/README.md` describes how to run a benchmark and what its columns mean.

mod bound;
mod cache;
mod cluster;
mod command;
mod dev_loop;
mod error;
mod inject;
mod latency;
mod machine;
mod newcomer;
mod output;
mod process;
mod program;
mod promises;
mod queue;
mod readings;
mod rest;
mod results;
mod rounds;
mod server;
mod subject;
mod table;
mod versions;
mod webhook;

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
        Benchmark::Inject(options) => inject::run(options).await,
        Benchmark::Webhook(options) => webhook::run(options).await,
        Benchmark::Latency(options) => latency::run(options).await,
        Benchmark::Rest(options) => rest::run(options).await,
        Benchmark::Loop(options) => dev_loop::run(options).await,
        Benchmark::Newcomer(options) => newcomer::run(options).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {}", chain(&error)));
            ExitCode::FAILURE
        }
    }
}
