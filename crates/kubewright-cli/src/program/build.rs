use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::cargo::cargo;
use super::package::package;
use crate::error::Error;

/// Where the words of a program go that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// To standard error, as they come.
    Shown,
    /// To whoever started it.
    Kept,
}

impl Words {
    pub(crate) fn stdio(self) -> Stdio {
        match self {
            Self::Shown => Stdio::inherit(),
            Self::Kept => Stdio::piped(),
        }
    }
}

/// Builds the package in `folder` and finds its program.
///
/// Its dependencies get the features that all members of its workspace ask for, so that what
/// `cargo test --workspace` has compiled is not compiled again.
///
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build(folder: &Path, words: Words) -> Result<PathBuf, Error> {
    let package = package(folder).await?;
    let [program] = package.programs.as_slice() else {
        return Err(Error::NotOneProgram {
            folder: folder.to_owned(),
            found: package.programs.len(),
        });
    };
    let mut build = Build::new(folder, words);
    build.arguments = vec!["--workspace".into(), "--bin".into(), program.into()];
    build.run().await
}

/// The same, with its results in another folder.
///
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build_into(
    folder: &Path,
    target: &Path,
    words: Words,
) -> Result<PathBuf, Error> {
    let mut build = Build::new(folder, words);
    build.arguments = vec!["--target-dir".into(), target.into()];
    build.run().await
}

/// A build of one package's program.
#[derive(Debug)]
pub(crate) struct Build<'a> {
    folder: &'a Path,
    words: Words,
    /// What cargo is told beside it.
    pub(crate) arguments: Vec<OsString>,
}

impl<'a> Build<'a> {
    /// As cargo does it unasked.
    pub(crate) fn new(folder: &'a Path, words: Words) -> Self {
        Self {
            folder,
            words,
            arguments: Vec::new(),
        }
    }

    /// Does it, and finds the program.
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
            .stderr(self.words.stdio())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let output = build.wait_with_output().await.map_err(failed)?;
        if !output.status.success() {
            let command = command.to_owned();
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(match self.words {
                Words::Shown => Error::Failed {
                    command,
                    status: output.status,
                },
                Words::Kept => Error::FailedSaying {
                    command,
                    said: said.trim_end().to_owned(),
                },
            });
        }
        let manifest = self.folder.join("Cargo.toml");
        let manifest = manifest.canonicalize().unwrap_or(manifest);
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

/// The executables of a package that cargo's messages name.
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
    fn only_executables_of_the_package_count() {
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
