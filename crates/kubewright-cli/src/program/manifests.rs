//! The manifests that a program prints.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::error::Error;

/// Runs `PROGRAM manifests` and returns the objects that it prints.
///
/// # Cancel safety
///
/// Dropping the future ends the program, which only prints.
pub(crate) async fn manifests(program: &Path, arguments: &[&str]) -> Result<Vec<Value>, Error> {
    let origin = format!("{} manifests", program.display());
    let failed = |source| Error::Start {
        command: origin.clone(),
        source,
    };
    let child = Command::new(program)
        .arg("manifests")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let output = child.wait_with_output().await.map_err(failed)?;
    if !output.status.success() {
        return Err(Error::Failed {
            command: origin,
            status: output.status,
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    crate::objects::read(&origin, &text)
}
