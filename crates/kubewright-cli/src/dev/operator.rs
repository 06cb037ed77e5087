use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use super::reconciled::{LOGGED, Reconciled, reconcile_loop};
use crate::error::Error;

/// How long a stopping operator may take before it is ended.
const GRACE: Duration = Duration::from_secs(10);

/// The operator's process, which runs under its own ServiceAccount.
#[derive(Debug)]
pub(crate) struct Operator {
    command: String,
    child: Child,
    /// What it logs, until that ends.
    log: Option<Lines<BufReader<ChildStderr>>>,
}

/// What an operator does by itself.
#[derive(Debug)]
pub(crate) enum Happening {
    /// It has logged a line.
    Said(String),
    /// A reconcile of its has ended.
    Reconciled(Reconciled),
    /// It has found that a reconcile triggers itself.
    ReconcileLoop(String),
    /// It has ended, which it should not.
    Ended(Error),
}

impl Operator {
    /// Starts the program with a kubeconfig that holds a token of its ServiceAccount.
    pub(crate) fn start(
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
            .env("RUST_LOG", filter(std::env::var_os("RUST_LOG")))
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

    /// Waits until the process says something or ends by itself.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost.
    pub(crate) async fn next(&mut self) -> Happening {
        if let Some(log) = &mut self.log {
            // At the end of its log the process is about to end.
            if let Ok(Some(line)) = log.next_line().await {
                if let Some(report) = reconcile_loop(&line) {
                    return Happening::ReconcileLoop(report.to_owned());
                }
                return match Reconciled::read(&line) {
                    Some(reconciled) => Happening::Reconciled(reconciled),
                    None => Happening::Said(line),
                };
            }
            self.log = None;
        }
        Happening::Ended(self.ended().await)
    }

    /// Waits until the process ends by itself, which it should not.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost.
    async fn ended(&mut self) -> Error {
        match self.child.wait().await {
            Ok(status) => Error::OperatorEnded { status },
            Err(source) => Error::Start {
                command: self.command.clone(),
                source,
            },
        }
    }

    /// Asks the process to stop, and ends it when it does not.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the process at once.
    pub(crate) async fn stop(mut self) -> Result<(), Error> {
        let failed = |source| Error::Start {
            command: self.command.clone(),
            source,
        };
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // An error means that it has ended already.
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        }
        match tokio::time::timeout(GRACE, self.child.wait()).await {
            Ok(ended) => ended.map(drop).map_err(failed),
            Err(_) => self.child.kill().await.map_err(failed),
        }
    }
}

/// What the operator logs: what the person at the keyboard wants, and each reconcile.
fn filter(wanted: Option<OsString>) -> OsString {
    let mut filter = wanted
        .filter(|wanted| !wanted.is_empty())
        .unwrap_or_else(|| "info".into());
    filter.push(",");
    filter.push(LOGGED);
    filter
}
