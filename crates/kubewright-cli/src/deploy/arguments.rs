//! Arguments that several commands have.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::report::{Report, ReportFlag};
use super::wait::Wait;
use crate::cluster_access::ClusterAccess;
use crate::objects::Ownership;

/// The operator, the cluster, and how to report what happens.
#[derive(Args, Debug)]
pub(crate) struct Target {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    pub(super) folder: PathBuf,
    #[command(flatten)]
    pub(super) access: ClusterAccess,
    /// Only show what would change.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How many seconds to wait until every object is ready, or deleted.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
    #[command(flatten)]
    report: ReportFlag,
}

impl Target {
    /// Returns how to wait for objects.
    pub(super) fn wait(&self) -> Wait {
        Wait {
            timeout: Duration::from_secs(self.timeout),
            format: self.report.output,
        }
    }

    /// Returns an empty report.
    pub(super) fn new_report(&self) -> Report {
        Report::new(self.report.output, self.dry_run)
    }
}

/// Flags for changes that fail without them.
#[derive(Args, Debug)]
pub(crate) struct Force {
    /// Change definitions even if existing objects break.
    #[arg(long)]
    pub(super) allow_unsafe: bool,
    /// Take over fields of other field managers.
    #[arg(long)]
    force_conflicts: bool,
}

impl Force {
    pub(super) fn ownership(&self) -> Ownership {
        if self.force_conflicts {
            Ownership::Taken
        } else {
            Ownership::Shared
        }
    }
}
