//! Builds a program with cargo and finds the executable.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::cargo::cargo;
use super::package::package;
use crate::error::Error;

/// What happens to the messages of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildOutput {
    /// They go to standard error at once.
    Shown,
    /// They become part of the error when the build fails.
    Captured,
}

impl BuildOutput {
    fn stdio(self) -> Stdio {
        match self {
            Self::Shown => Stdio::inherit(),
            Self::Captured => Stdio::piped(),
        }
    }
}

/// Builds the package in `folder` and returns the path of its program.
///
/// Dependencies are built with the features that all members of the workspace need: results of
/// `cargo test --workspace` are used again.
///
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build(folder: &Path, output: BuildOutput) -> Result<PathBuf, Error> {
    let package = package(folder).await?;
    let [program] = package.programs.as_slice() else {
        return Err(Error::NotOneProgram {
            folder: folder.to_owned(),
            found: package.programs.len(),
        });
    };
    let mut build = Build::new(folder, output);
    build.arguments = vec!["--workspace".into(), "--bin".into(), program.into()];
    build.run().await
}

/// Builds the package in `folder` into another target folder.
///
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build_into(
    folder: &Path,
    target: &Path,
    output: BuildOutput,
) -> Result<PathBuf, Error> {
    let mut build = Build::new(folder, output);
    build.arguments = vec!["--target-dir".into(), target.into()];
    build.run().await
}

/// A build of the program of a package.
#[derive(Debug)]
pub(crate) struct Build<'a> {
    folder: &'a Path,
    output: BuildOutput,
    /// More arguments for cargo.
    pub(crate) arguments: Vec<OsString>,
}

impl<'a> Build<'a> {
    /// Returns a build with cargo's defaults.
    pub(crate) fn new(folder: &'a Path, output: BuildOutput) -> Self {
        Self {
            folder,
            output,
            arguments: Vec::new(),
        }
    }

    /// Builds the package and returns the path of its program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the build; what was compiled stays compiled.
    pub(crate) async fn run(&self) -> Result<PathBuf, Error> {
        let command = "cargo build";
        let failed = |source| Error::Start {
            command: format!("{command} (in {})", self.folder.display()),
            source,
        };
        let build = cargo(self.folder)
            .args(["build", "--message-format=json-render-diagnostics"])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(self.output.stdio())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let output = build.wait_with_output().await.map_err(failed)?;
        if !output.status.success() {
            let command = command.to_owned();
            return Err(match self.output {
                BuildOutput::Shown => Error::Failed {
                    command,
                    status: output.status,
                },
                BuildOutput::Captured => Error::FailedWithOutput {
                    command,
                    output: String::from_utf8_lossy(&output.stderr)
                        .trim_end()
                        .to_owned(),
                },
            });
        }
        let path = self.folder.join("Cargo.toml");
        let manifest = path.canonicalize().unwrap_or(path);
        let mut programs = programs(&String::from_utf8_lossy(&output.stdout), &manifest);
        match programs.len() {
            1 => Ok(programs.remove(0)),
            found => Err(Error::NotOneProgram {
                folder: self.folder.to_owned(),
                found,
            }),
        }
    }
}

/// Returns the executables of a package in cargo's messages.
fn programs(messages: &str, manifest: &Path) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter(|message| message["manifest_path"].as_str().map(Path::new) == Some(manifest))
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::programs;

    #[test]
    fn executables_of_other_packages_are_ignored() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/Cargo.toml","executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/Cargo.toml","executable":"/t/debug/web"}
{"reason":"compiler-artifact","manifest_path":"/w/other/Cargo.toml","executable":"/t/debug/web"}
{"reason":"build-finished","success":true}
not json"#;
        assert_eq!(
            programs(messages, Path::new("/w/Cargo.toml")),
            [PathBuf::from("/t/debug/web")]
        );
    }
}
