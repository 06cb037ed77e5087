//! The project's own chores: the control plane, the tables, the promises.

mod control_plane;
mod go;
mod promises;
mod tables;
mod vectors;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Find or build the programs of a real control plane, and print their folder.
    ControlPlane {
        /// The Kubernetes version; the newest known unless given.
        #[arg(long)]
        version: Option<String>,
    },
    /// Run what docs/promises.toml claims, and say what was kept.
    Promises {
        /// Also those that take long.
        #[arg(long)]
        all: bool,
        /// Only these, by their id.
        only: Vec<String>,
    },
    /// Write the tables of Kubernetes' own kinds from a live API server.
    Tables {
        /// The server; a real control plane is started unless given.
        #[arg(long)]
        kubeconfig: Option<PathBuf>,
        /// Write nothing; fail when the tables differ from what the server says.
        #[arg(long)]
        check: bool,
    },
    /// Let Kubernetes' own code answer the scripts of server-side apply and of its own kinds.
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
    match arguments.chore {
        Chore::ControlPlane { version } => {
            let folder = control_plane::locate(version.as_deref())?;
            writeln!(std::io::stdout(), "{}", folder.display())?;
            Ok(ExitCode::SUCCESS)
        }
        Chore::Promises { all, only } => {
            let claims = promises::Promises::read(&root().join("docs/promises.toml"), &only)?;
            let kept = promises::report(&claims, &root(), all, &only);
            Ok(if kept {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        Chore::Vectors => {
            let scripts = vectors::rewrite(&root())?;
            writeln!(std::io::stdout(), "{scripts} scripts answered")?;
            Ok(ExitCode::SUCCESS)
        }
        Chore::Tables { kubeconfig, check } => {
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

/// The project's folder.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or_else(|| own.clone(), PathBuf::from)
}

#[expect(
    clippy::print_stderr,
    reason = "the last words of a command that failed"
)]
fn report_error(error: &dyn std::error::Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
}
