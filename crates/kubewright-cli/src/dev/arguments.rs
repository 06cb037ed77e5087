use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::deploy::Access;
use crate::error::Error;
use crate::output_format::{OutputFlag, OutputFormat};

/// What `kubewright dev` is called with.
#[derive(Args, Debug)]
pub(crate) struct DevArguments {
    /// The operator's folder: a Cargo package with one program, and `samples/*.yaml`.
    #[arg(default_value = ".")]
    pub(super) folder: PathBuf,
    /// How many nodes the cluster has.
    #[arg(long, default_value_t = 3)]
    pub(super) nodes: usize,
    /// Where to run it: on an embedded cluster, on a real control plane made for this, or on the
    /// cluster of the kubeconfig.
    #[arg(long, value_enum, default_value_t = Choice::Embedded)]
    cluster: Choice,
    #[command(flatten)]
    pub(super) access: Access,
    /// Stop when the samples are ready; fail when they are not in time.
    #[arg(long)]
    once: bool,
    /// Show plain lines on a terminal, too.
    #[arg(long)]
    plain: bool,
    /// How many seconds `--once` waits for the samples.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    #[command(flatten)]
    form: OutputFlag,
}

impl DevArguments {
    /// A kubeconfig that is named is meant.
    pub(super) fn choice(&self) -> Choice {
        match self.access.kubeconfig.is_some() || self.access.context.is_some() {
            true => Choice::Current,
            false => self.cluster,
        }
    }

    /// On a terminal, unless somebody wants lines.
    pub(super) fn is_full_screen(&self) -> bool {
        !self.once && !self.plain && io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// How `--once` answers; without it there is no end that could be told.
    pub(super) fn form(&self) -> Result<OutputFormat, Error> {
        match (self.form.output, self.once) {
            (OutputFormat::Json, false) => Err(Error::Argument {
                flag: "--output",
                value: "json".to_owned(),
                wanted: "--once beside it: otherwise there is no end that could be told",
            }),
            (form, _) => Ok(form),
        }
    }

    /// How long to wait for the samples; without it, the operator runs until Ctrl-C.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.once.then(|| Duration::from_secs(self.timeout))
    }
}

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    Embedded,
    Real,
    Current,
}
