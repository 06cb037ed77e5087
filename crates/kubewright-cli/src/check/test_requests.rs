use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use crate::error::Error;
use crate::program::cargo;

/// Runs the project's tests and tells what the operator asked the API server for:
/// `verb group/resource`, each once.
///
/// # Cancel safety
///
/// Dropping the future ends the tests.
pub(super) async fn used_by_tests(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let noted = tempfile::NamedTempFile::new().map_err(|source| Error::File {
        action: "make a file in",
        path: std::env::temp_dir(),
        source,
    })?;
    let command = "cargo test".to_owned();
    let failed = |source| Error::Start {
        command: command.clone(),
        source,
    };
    let status = cargo(folder)
        .arg("test")
        .env("KUBEWRIGHT_PERMISSIONS", noted.path())
        .stdin(Stdio::null())
        // What is printed here is the answer of `check`.
        .stdout(std::io::stderr())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(Error::Failed { command, status });
    }
    let text = std::fs::read_to_string(noted.path()).map_err(|source| Error::File {
        action: "read",
        path: noted.path().to_owned(),
        source,
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}
