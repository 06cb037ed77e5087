use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::control_plane::{ControlPlane, Program, Release};
use crate::progress::say;
use crate::{Cluster, Error, Settings};

/// How long one command line may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the embedded cluster says of itself, which no person would see elsewhere.
const NOTICE: &str = "Warning: kubewright: ";

/// The real `kubectl`, led to a cluster, with a folder of its own for what it keeps.
///
/// It is a program of its own and knows nothing of virtual time: a test that uses it runs on real
/// time, which `#[tokio::test]` does and `#[kubewright_testing::test]` on the embedded cluster does
/// not.
#[derive(Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    namespace: String,
    folder: TempDir,
}

/// What a command line printed, on both streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Whether it ended well.
    pub succeeded: bool,
    /// The text, without what the embedded cluster says of itself.
    pub text: String,
}

impl Kubectl {
    /// Finds the program and leads it to a cluster; the test's namespace is the one it means.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the running compiler is stopped where the program was still to be built.
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

    /// As [`locate`](Self::locate), but none where Go is missing or too old and nothing is built
    /// yet: a line says that the test was skipped, unless `KUBEWRIGHT_REQUIRE=real` makes it an
    /// error.
    ///
    /// # Cancel safety
    ///
    /// As that of [`locate`](Self::locate).
    pub async fn locate_or_skip(cluster: &Cluster, test: &str) -> Result<Option<Self>, Error> {
        let required = Settings::from_environment()?.require_real;
        match Self::locate(cluster).await {
            Err(error @ (Error::GoMissing | Error::GoTooOld { .. })) if !required => {
                say(format_args!("skipped {test}: {error}"));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// A command line, its words apart by spaces, that is not started yet.
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

    /// Runs a command line with an input.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the program is ended in the middle of what it does.
    pub async fn run(&self, arguments: &str, input: &str) -> Result<Printed, Error> {
        let failed = |source: io::Error| Error::Spawn {
            command: format!("kubectl {arguments}"),
            source,
        };
        let mut child = self.command(arguments).spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(input.as_bytes()).await {
                // It had enough before the end: what it says tells why.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => written.map_err(failed)?,
            }
        }
        let output = timeout(PATIENCE, child.wait_with_output()).await;
        let output = output.map_err(|_| Error::Waited {
            what: format!("the end of `kubectl {arguments}`"),
            waited: PATIENCE,
            last: "it was running".to_owned(),
        })?;
        let output = output.map_err(failed)?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let lines = text.split_inclusive('\n');
        Ok(Printed {
            succeeded: output.status.success(),
            text: lines.filter(|line| !line.starts_with(NOTICE)).collect(),
        })
    }
}
