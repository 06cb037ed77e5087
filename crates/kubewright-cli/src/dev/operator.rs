//! The process of the operator, and what its log reports.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use super::reconciled::{LOG_FILTER, Reconciled, reconcile_loop};
use crate::error::Error;

/// How long the operator may take to stop before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// The process of the operator, which runs under its own ServiceAccount.
#[derive(Debug)]
pub(super) struct Operator {
    command: String,
    child: Child,
    /// The log; none after its end.
    log: Option<Lines<BufReader<ChildStderr>>>,
}

/// What the process of the operator did.
#[derive(Debug)]
pub(super) enum OperatorEvent {
    /// It logged a line.
    Logged(String),
    /// A reconcile has ended.
    Reconciled(Reconciled),
    /// It found that a reconcile triggers itself.
    ReconcileLoop(String),
    /// It exited, although it was not stopped.
    Exited(Error),
}

impl Operator {
    /// Starts the program with a kubeconfig that has a token of its ServiceAccount.
    pub(super) fn start(
        program: &Path,
        kubeconfig: &Path,
        flags: &[String],
    ) -> Result<Self, Error> {
        let command = program.display().to_string();
        let mut child = Command::new(program)
            .arg("run")
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(flags)
            .env("RUST_LOG", log_filter(std::env::var_os("RUST_LOG")))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| Error::Start {
                command: command.clone(),
                source,
            })?;
        let log = child.stderr.take().map(|log| BufReader::new(log).lines());
        Ok(Self {
            command,
            child,
            log,
        })
    }

    /// Waits until the process logs a line or exits.
    ///
    /// # Cancel safety
    ///
    /// Safe: no line is lost.
    pub(super) async fn next(&mut self) -> OperatorEvent {
        if let Some(log) = &mut self.log {
            if let Ok(Some(line)) = log.next_line().await {
                if let Some(report) = reconcile_loop(&line) {
                    return OperatorEvent::ReconcileLoop(report.to_owned());
                }
                return match Reconciled::parse(&line) {
                    Some(reconciled) => OperatorEvent::Reconciled(reconciled),
                    None => OperatorEvent::Logged(line),
                };
            }
            // The log ends shortly before the process exits.
            self.log = None;
        }
        OperatorEvent::Exited(self.exited().await)
    }

    /// Waits until the process exits, and returns that as an error.
    async fn exited(&mut self) -> Error {
        match self.child.wait().await {
            Ok(status) => Error::OperatorExited { status },
            Err(source) => Error::Start {
                command: self.command.clone(),
                source,
            },
        }
    }

    /// Stops the process with SIGTERM, and kills it when it does not exit in time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future kills the process at once.
    pub(super) async fn stop(mut self) -> Result<(), Error> {
        let failed = |source| Error::Start {
            command: self.command.clone(),
            source,
        };
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // The only possible error is that the process has exited already.
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        }
        match tokio::time::timeout(GRACE, self.child.wait()).await {
            Ok(exited) => exited.map(drop).map_err(failed),
            Err(_) => self.child.kill().await.map_err(failed),
        }
    }
}

/// Returns the log filter of the operator: the user's, or `info`, with the lines about reconciles.
fn log_filter(user: Option<OsString>) -> OsString {
    let mut filter = user
        .filter(|user| !user.is_empty())
        .unwrap_or_else(|| "info".into());
    filter.push(",");
    filter.push(LOG_FILTER);
    filter
}
