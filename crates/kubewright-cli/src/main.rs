//! The command `kubewright`.

mod cluster;
mod dev;
mod embedded;
mod error;
mod interrupt;
mod kubeconfig;
mod output;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Kubernetes operators in Rust: run them, and run a cluster for them.
#[derive(Debug, Parser)]
#[command(name = "kubewright", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve an embedded cluster on loopback until Ctrl-C.
    #[command(
        after_help = "Examples:\n  kubewright cluster --nodes 3 --kubeconfig cluster.yaml\n  kubewright cluster --data state"
    )]
    Cluster(cluster::Arguments),
    /// Build an operator and run it on an embedded cluster, with its samples.
    #[command(after_help = "Example:\n  kubewright dev operators/mydaemonset --once")]
    Dev {
        /// The operator's folder: a Cargo package with one program, and `samples/*.yaml`.
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// How many nodes the cluster has.
        #[arg(long, default_value_t = 3)]
        nodes: usize,
        /// Stop when the samples are ready; fail when they are not in time.
        #[arg(long)]
        once: bool,
        /// How many seconds `--once` waits for the samples.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::fail(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), error::Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| error::Error::Runtime { source })?;
    runtime.block_on(async {
        match command {
            Command::Cluster(arguments) => cluster::run(&arguments).await,
            Command::Dev {
                folder,
                nodes,
                once,
                timeout,
            } => {
                let timeout = once.then(|| std::time::Duration::from_secs(timeout));
                dev::run(&folder, nodes, timeout).await
            }
        }
    })
}
