//! Development tasks: the control plane, tables, test vectors and promises.

mod control_plane;
mod go;
mod promises;
mod tables;
mod vectors;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Find or build the programs of a real control plane and print their folder.
    ControlPlane {
        /// The Kubernetes version. Default: the newest known version.
        #[arg(long)]
        version: Option<String>,
    },
    /// Check the promises in docs/promises.toml and print the results.
    Promises {
        /// Include the promises that take long.
        #[arg(long)]
        all: bool,
        /// The ids of the promises to check. Default: all quick ones.
        ids: Vec<String>,
    },
    /// Generate the tables of the built-in kinds from a running API server.
    Tables {
        /// The kubeconfig of the server. Default: a real control plane is started.
        #[arg(long)]
        kubeconfig: Option<PathBuf>,
        /// Write nothing; fail if the tables differ from the server.
        #[arg(long)]
        check: bool,
    },
    /// Generate the test vectors with the code of Kubernetes.
    Vectors,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            report_error(&*error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    match arguments.task {
        Task::ControlPlane { version } => {
            let folder = control_plane::locate(version.as_deref())?;
            writeln!(std::io::stdout(), "{}", folder.display())?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Promises { all, ids } => {
            let claims = promises::Promises::read(&root().join("docs/promises.toml"), &ids)?;
            let selection = promises::Selection { all, ids };
            let kept = promises::report(&claims, &root(), &selection);
            Ok(if kept {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        Task::Vectors => {
            let scripts = vectors::rewrite(&root())?;
            writeln!(std::io::stdout(), "{scripts} scripts rewritten")?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Tables { kubeconfig, check } => {
            let mode = if check {
                tables::Mode::Check
            } else {
                tables::Mode::Write
            };
            Ok(match tables::run(&root(), kubeconfig, mode)? {
                tables::Verdict::UpToDate => ExitCode::SUCCESS,
                tables::Verdict::Drifted => ExitCode::FAILURE,
            })
        }
    }
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or_else(|| own.clone(), PathBuf::from)
}

#[expect(clippy::print_stderr, reason = "the error of a failed command")]
fn report_error(error: &dyn std::error::Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  caused by: {error}");
        cause = error.source();
    }
}
