use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::error::Error;

/// Builds the package in `folder` and finds its program.
///
/// # Cancel safety
///
/// Dropping the future ends the build; what was compiled stays compiled.
pub(crate) async fn build(folder: &Path) -> Result<PathBuf, Error> {
    let command = "cargo build";
    let output = Command::new(cargo())
        .args(["build", "--message-format=json-render-diagnostics"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| Error::Start {
            command: format!("{command} (in {})", folder.display()),
            source,
        })?;
    if !output.status.success() {
        return Err(Error::Failed {
            command: command.to_owned(),
            status: output.status,
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
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
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
    use super::programs;

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
