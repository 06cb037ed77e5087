use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

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
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build(folder: &Path, words: Words) -> Result<PathBuf, Error> {
    let command = "cargo build";
    let mut cargo_build = Command::new(cargo());
    cargo_build
        .args(["build", "--message-format=json-render-diagnostics"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(words.stdio())
        .kill_on_drop(true);
    for name in of_another_package(std::env::vars_os().map(|(name, _)| name)) {
        cargo_build.env_remove(name);
    }
    let failed = |source| Error::Start {
        command: format!("{command} (in {})", folder.display()),
        source,
    };
    let build = cargo_build.spawn().map_err(failed)?;
    let output = build.wait_with_output().await.map_err(failed)?;
    if !output.status.success() {
        let command = command.to_owned();
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(match words {
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
    let mut programs = programs(&String::from_utf8_lossy(&output.stdout));
    match programs.len() {
        1 => Ok(programs.remove(0)),
        found => Err(Error::NotOneProgram {
            folder: folder.to_owned(),
            found,
        }),
    }
}

/// Cargo tells the programs it runs which cargo it is.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// What cargo tells a program that it runs about that program's package. A build that inherits it
/// compiles again whatever depends on it, such as `ring`.
fn of_another_package(names: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    const ABOUT: [&str; 4] = [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_",
    ];
    names.filter(|name| {
        let name = name.to_string_lossy();
        ABOUT.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// The executables that cargo's messages name.
fn programs(messages: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{of_another_package, programs};

    #[test]
    fn a_build_inherits_settings_and_not_another_package() {
        let names = [
            "CARGO_PKG_NAME",
            "CARGO_HOME",
            "CARGO_MANIFEST_DIR",
            "PATH",
            "CARGO",
        ];
        let dropped: Vec<_> = of_another_package(names.into_iter().map(OsString::from)).collect();
        assert_eq!(dropped, ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"]);
    }

    #[test]
    fn only_executables_count() {
        let messages = r#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/t/debug/web"}
{"reason":"build-finished","success":true}
not json"#;
        assert_eq!(
            programs(messages),
            [std::path::PathBuf::from("/t/debug/web")]
        );
    }
}
