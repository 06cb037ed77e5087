//! The requests that the tests of a project send to the API server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use crate::error::Error;
use crate::program::cargo;

/// Runs the tests of the project and returns the requests of its operator, each as
/// `verb group/resource`.
///
/// # Cancel safety
///
/// Dropping the future ends the tests.
pub(super) async fn test_requests(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let log = tempfile::NamedTempFile::new().map_err(|source| Error::File {
        action: "create a file in",
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
        .env("KUBEWRIGHT_PERMISSIONS", log.path())
        .stdin(Stdio::null())
        // Standard output is for the findings.
        .stdout(std::io::stderr())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(Error::Failed { command, status });
    }
    let text = std::fs::read_to_string(log.path()).map_err(|source| Error::File {
        action: "read",
        path: log.path().to_owned(),
        source,
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}
