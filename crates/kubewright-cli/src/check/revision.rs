//! The manifests of an earlier git revision.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;

use crate::error::Error;
use crate::program::{self, BuildOutput};

/// Returns the manifests that the program of a git revision prints.
///
/// The revision is checked out inside the target folder and built into that folder: dependencies
/// that have not changed are not compiled again.
///
/// # Cancel safety
///
/// Dropping the future ends the build; `git worktree prune` removes the checkout from git's list.
pub(super) async fn manifests_of(folder: &Path, revision: &str) -> Result<Vec<Value>, Error> {
    let inside = git(folder, &["rev-parse", "--show-prefix"]).await?;
    let target = program::package(folder).await?.target;
    let failed = |source| Error::File {
        action: "create a folder in",
        path: target.clone(),
        source,
    };
    std::fs::create_dir_all(&target).map_err(failed)?;
    let parent = tempfile::Builder::new()
        .prefix("since-")
        .tempdir_in(&target)
        .map_err(failed)?;
    let checkout = parent.path().join("sources");
    let add: [&OsStr; 5] = [
        "worktree".as_ref(),
        "add".as_ref(),
        "--detach".as_ref(),
        checkout.as_ref(),
        revision.as_ref(),
    ];
    git(folder, &add).await?;
    let manifests = build_and_print(&checkout.join(&inside), &target).await;
    let remove: [&OsStr; 4] = [
        "worktree".as_ref(),
        "remove".as_ref(),
        "--force".as_ref(),
        checkout.as_ref(),
    ];
    let removed = git(folder, &remove).await;
    let manifests = manifests?;
    removed?;
    Ok(manifests)
}

async fn build_and_print(folder: &Path, target: &Path) -> Result<Vec<Value>, Error> {
    let program = program::build_into(folder, target, BuildOutput::Shown).await?;
    program::manifests(&program, &[]).await
}

/// Runs git and returns what it prints, as a path.
async fn git(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<PathBuf, Error> {
    let words: Vec<String> = arguments
        .iter()
        .map(|argument| argument.as_ref().display().to_string())
        .collect();
    let command = format!("git {}", words.join(" "));
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| Error::Start {
            command: command.clone(),
            source,
        })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::FailedWithOutput { command, output });
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(PathBuf::from(printed.trim()))
}
