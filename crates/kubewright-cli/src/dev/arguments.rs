//! The arguments of `kubewright dev`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cluster_access::ClusterAccess;
use crate::error::Error;
use crate::output_format::{OutputFlag, OutputFormat};

/// The arguments of `kubewright dev`.
#[derive(Args, Debug)]
pub(crate) struct DevArguments {
    /// The operator's folder: a Cargo package with one program, and `samples/*.yaml`.
    #[arg(default_value = ".")]
    pub(super) folder: PathBuf,
    /// The number of nodes of the cluster.
    #[arg(long, default_value_t = 3)]
    pub(super) nodes: usize,
    /// Where to run the operator: on an embedded cluster, on a real control plane that is started
    /// for it, or on the current cluster of the kubeconfig.
    #[arg(long, value_enum, default_value_t = ClusterChoice::Embedded)]
    cluster: ClusterChoice,
    #[command(flatten)]
    pub(super) access: ClusterAccess,
    /// Exit when the samples are ready; fail when they are not ready in time.
    #[arg(long)]
    once: bool,
    /// Print plain lines also on a terminal.
    #[arg(long)]
    plain: bool,
    /// How many seconds `--once` waits for the samples.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    #[command(flatten)]
    format: OutputFlag,
}

impl DevArguments {
    /// Returns the cluster to run on: a flag for the kubeconfig selects its cluster.
    pub(super) fn cluster(&self) -> ClusterChoice {
        if self.access.kubeconfig.is_some() || self.access.context.is_some() {
            ClusterChoice::Current
        } else {
            self.cluster
        }
    }

    /// Whether to use the full screen.
    pub(super) fn is_full_screen(&self) -> bool {
        !self.once && !self.plain && io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// Returns the format of the result, which only `--once` has.
    pub(super) fn format(&self) -> Result<OutputFormat, Error> {
        let format = self.format.output;
        if format == OutputFormat::Json && !self.once {
            return Err(Error::Argument {
                flag: "--output",
                value: "json".to_owned(),
                expected: "--once as well: without it there is no result to print",
            });
        }
        Ok(format)
    }

    /// Returns how long `--once` waits for the samples; none to run until Ctrl-C.
    pub(super) fn once_timeout(&self) -> Option<Duration> {
        self.once.then(|| Duration::from_secs(self.timeout))
    }
}

/// The cluster to run an operator on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClusterChoice {
    Embedded,
    Real,
    Current,
}
