//! The real kubectl, connected to a test cluster.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::control_plane::{ControlPlane, Program, Release};
use crate::progress::report;
use crate::{Cluster, Error, Settings};

/// How long a command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// The start of warnings that only the embedded cluster returns.
const EMBEDDED_WARNING: &str = "Warning: kubewright: ";

/// The real `kubectl`, connected to a cluster, with a home folder of its own.
///
/// It is another process and does not use virtual time: a test that uses it has to run on real
/// time, as with `#[tokio::test]`. On the embedded cluster, `#[kubewright_testing::test]` uses
/// virtual time.
#[derive(Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    namespace: String,
    folder: TempDir,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubectlOutput {
    /// Whether the exit status is 0.
    pub succeeded: bool,
    /// The output on both streams, without warnings that only the embedded cluster returns.
    pub text: String,
}

impl Kubectl {
    /// Locates or builds the program, and connects it to a cluster. Its default namespace is the
    /// test's.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a running build of the program is stopped.
    pub async fn locate(cluster: &Cluster) -> Result<Self, Error> {
        let settings = Settings::from_environment()?;
        let programs = ControlPlane::locate(Release::current(), &settings).await?;
        let folder = tempfile::tempdir().map_err(|source| Error::Write {
            path: std::env::temp_dir(),
            source,
        })?;
        Ok(Self {
            program: programs.program(Program::Kubectl)?,
            kubeconfig: cluster.kubeconfig()?,
            namespace: cluster.namespace().to_owned(),
            folder,
        })
    }

    /// Locates the program as [`locate`](Self::locate) does. Returns `None` when Go is missing or
    /// too old and the program was not built before: a line reports that the test was skipped,
    /// unless `KUBEWRIGHT_REQUIRE=real` makes it an error.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a running build of the program is stopped.
    pub async fn locate_or_skip(cluster: &Cluster, test: &str) -> Result<Option<Self>, Error> {
        let required = Settings::from_environment()?.require_real;
        match Self::locate(cluster).await {
            Err(error @ (Error::GoMissing | Error::GoTooOld { .. })) if !required => {
                report(format_args!("skipped {test}: {error}"));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// A command with arguments separated by spaces, which is not started yet.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments.split_whitespace())
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["--namespace", &self.namespace])
            .env("HOME", self.folder.path())
            .env_remove("KUBECONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command with arguments separated by spaces, and an input.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the program is killed.
    pub async fn run(&self, arguments: &str, input: &str) -> Result<KubectlOutput, Error> {
        let failed = |source: io::Error| Error::Spawn {
            command: format!("kubectl {arguments}"),
            source,
        };
        let mut child = self.command(arguments).spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(input.as_bytes()).await {
                // It ended without reading the whole input: its output contains the reason.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => written.map_err(failed)?,
            }
        }
        let output = timeout(COMMAND_TIMEOUT, child.wait_with_output())
            .await
            .map_err(|_| Error::Timeout {
                condition: format!("the end of `kubectl {arguments}`"),
                elapsed: COMMAND_TIMEOUT,
                last: "it was running".to_owned(),
            })?
            .map_err(failed)?;
        let bytes = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.split_inclusive('\n');
        Ok(KubectlOutput {
            succeeded: output.status.success(),
            text: lines
                .filter(|line| !line.starts_with(EMBEDDED_WARNING))
                .collect(),
        })
    }
}
