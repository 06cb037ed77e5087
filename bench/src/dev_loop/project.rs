//! An operator as a developer builds it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use super::copy::copy;
use crate::error::Error;
use crate::process::children_time;
use crate::program::{Builder, remove_package_variables, tail};
use crate::subject::Subject;

/// A copy of an operator's sources with a build cache of its own.
#[derive(Debug)]
pub(super) struct Project<'a> {
    subject: Subject,
    builder: &'a Builder,
    folder: PathBuf,
    cache: PathBuf,
}

/// The cost of a build.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildTime {
    pub(super) wall: Duration,
    pub(super) processor: Duration,
}

impl<'a> Project<'a> {
    /// Copies the sources. The dependencies must be downloaded already.
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
            operation: format!("copy {}", sources.display()),
            source,
        })?;
        Ok(project)
    }

    /// Makes a debug build.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the compiler.
    pub(super) async fn build(&self) -> Result<BuildTime, Error> {
        let mut command = self.command();
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let command_line = format!("{:?} in {}", command.as_std(), self.folder.display());
        let (start, used) = (Instant::now(), children_time());
        let output = command.output().await.map_err(|source| Error::Spawn {
            command: command_line.clone(),
            source,
        })?;
        let time = BuildTime {
            wall: start.elapsed(),
            processor: children_time().saturating_sub(used),
        };
        if output.status.success() {
            return Ok(time);
        }
        Err(Error::CommandFailed {
            command: command_line,
            status: output.status,
            tail: tail(&output.stderr),
        })
    }

    /// Changes the message that the reconcile function logs after it has created a Pod.
    pub(super) fn edit(&self, number: u32) -> Result<(), Error> {
        let (file, message) = match self.subject {
            Subject::Kubewright => ("operators/mydaemonset/src/lib.rs", "created Pod"),
            _ => ("controller.go", "created Pod"),
        };
        let path = self.folder.join(file);
        let failed = |source| Error::System {
            operation: format!("edit {}", path.display()),
            source,
        };
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let edited = text.replacen(message, &format!("created Pod number {number},"), 1);
        if edited == text {
            return Err(failed(std::io::ErrorKind::InvalidData.into()));
        }
        std::fs::write(&path, edited).map_err(failed)
    }

    fn command(&self) -> Command {
        if self.subject == Subject::Kubewright {
            let mut command = Command::new(&self.builder.cargo);
            remove_package_variables(&mut command);
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
