use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use super::copy::copy;
use crate::error::Error;
use crate::process::children_time;
use crate::subject::{Builder, Subject, forget_this_package, tail};

/// A copy of an operator's sources with a build cache of its own.
#[derive(Debug)]
pub(super) struct Project<'a> {
    subject: Subject,
    builder: &'a Builder,
    folder: PathBuf,
    cache: PathBuf,
}

/// What one build took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) wall: Duration,
    pub(super) processor: Duration,
}

impl<'a> Project<'a> {
    /// Copies the sources; nothing is compiled yet. Dependencies are downloaded already.
    pub(super) fn new(
        subject: Subject,
        builder: &'a Builder,
        folder: &Path,
    ) -> Result<Self, Error> {
        let project = Self {
            subject,
            builder,
            folder: folder.join(format!("{subject}-sources")),
            cache: folder.join(format!("{subject}-cache")),
        };
        let sources = match subject {
            Subject::Kubewright => builder.root.clone(),
            _ => builder.root.join("bench/go/mydaemonset-controller-runtime"),
        };
        copy(&sources, &project.folder).map_err(|source| Error::System {
            tried: format!("copy {}", sources.display()),
            source,
        })?;
        Ok(project)
    }

    /// Builds for a developer, not for a release.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the compiler.
    pub(super) async fn build(&self) -> Result<Taken, Error> {
        let mut command = self.command();
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let words = command.as_std();
        let shown = format!("{:?} in {}", words, self.folder.display());
        let (start, used) = (Instant::now(), children_time());
        let output = command.output().await.map_err(|source| Error::Spawn {
            command: shown.clone(),
            source,
        })?;
        let taken = Taken {
            wall: start.elapsed(),
            processor: children_time().saturating_sub(used),
        };
        match output.status.success() {
            true => Ok(taken),
            false => Err(Error::Step {
                command: shown,
                status: output.status,
                tail: tail(&String::from_utf8_lossy(&output.stderr)),
            }),
        }
    }

    /// Changes what the reconcile function says when it has made a Pod.
    pub(super) fn edit(&self, number: u32) -> Result<(), Error> {
        let (file, said) = match self.subject {
            Subject::Kubewright => ("operators/mydaemonset/src/lib.rs", "made Pod"),
            _ => ("controller.go", "made Pod"),
        };
        let path = self.folder.join(file);
        let failed = |source| Error::System {
            tried: format!("edit {}", path.display()),
            source,
        };
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let edited = text.replacen(said, &format!("made Pod number {number},"), 1);
        if edited == text {
            return Err(failed(std::io::ErrorKind::InvalidData.into()));
        }
        std::fs::write(&path, edited).map_err(failed)
    }

    fn command(&self) -> Command {
        if self.subject == Subject::Kubewright {
            let mut command = Command::new(&self.builder.cargo);
            forget_this_package(&mut command);
            command
                .args(["build", "--offline", "--locked", "--package", "mydaemonset"])
                .arg("--target-dir")
                .arg(&self.cache);
            return command;
        }
        let mut command = Command::new(&self.builder.go);
        command
            .args(["build", "-buildvcs=false", "-mod=readonly", "-o"])
            .arg(self.cache.join("mydaemonset"))
            .arg(".")
            .env("GOMODCACHE", self.builder.cache.join("go/mod"))
            .env("GOCACHE", self.cache.join("build"))
            .env("GOWORK", "off")
            .env("CGO_ENABLED", "0");
        command
    }
}
