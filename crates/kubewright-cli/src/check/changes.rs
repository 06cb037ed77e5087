use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubewright_manifest::unsafe_changes;
use serde_json::{Value, json};
use tokio::process::Command;

use super::finding::{Finding, Findings, Rule};
use crate::error::Error;
use crate::program::{self, Words};

/// Compares definitions with what they were.
pub(super) fn check_changes(former: &[Value], present: &[Value]) -> Vec<Finding> {
    let mut found = Vec::new();
    for old in former.iter().filter(|one| is_definition(one)) {
        let mut findings = Findings::of(old);
        let name = &old["metadata"]["name"];
        let new = present
            .iter()
            .find(|one| is_definition(one) && one["metadata"]["name"] == *name);
        match new {
            Some(new) => {
                for change in unsafe_changes(&as_stored(old), new) {
                    findings.add(Rule::Change, "", change.to_string());
                }
            }
            None => findings.add(
                Rule::Change,
                "",
                "the definition goes: whoever takes it out of a cluster deletes all its objects",
            ),
        }
        found.extend(findings.into_vec());
    }
    found
}

fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// What a cluster would say that has objects of the definition: they are in the stored version.
fn as_stored(definition: &Value) -> Value {
    let mut stored = definition.clone();
    if stored["status"]["storedVersions"].is_null() {
        let versions = definition["spec"]["versions"].as_array();
        let names: Vec<&Value> = versions
            .into_iter()
            .flatten()
            .filter(|version| version["storage"] == true)
            .map(|version| &version["name"])
            .collect();
        stored["status"] = json!({"storedVersions": names});
    }
    stored
}

/// What the program of a git revision prints as its manifests.
///
/// The revision is checked out beside the build's results, and built into them, so that
/// dependencies that are the same are not compiled again.
///
/// # Cancel safety
///
/// Dropping the future ends the build; git forgets the checkout by `git worktree prune`.
pub(super) async fn manifests_of(folder: &Path, revision: &str) -> Result<Vec<Value>, Error> {
    let inside = git(folder, &["rev-parse", "--show-prefix"]).await?;
    let target = program::package(folder).await?.target;
    let failed = |source| Error::File {
        action: "make a folder in",
        path: target.clone(),
        source,
    };
    std::fs::create_dir_all(&target).map_err(failed)?;
    let place = tempfile::Builder::new()
        .prefix("since-")
        .tempdir_in(&target)
        .map_err(failed)?;
    let checkout = place.path().join("sources");
    let words: [&OsStr; 5] = [
        "worktree".as_ref(),
        "add".as_ref(),
        "--detach".as_ref(),
        checkout.as_ref(),
        revision.as_ref(),
    ];
    git(folder, &words).await?;
    let printed = print(&checkout.join(&inside), &target).await;
    let words: [&OsStr; 4] = [
        "worktree".as_ref(),
        "remove".as_ref(),
        "--force".as_ref(),
        checkout.as_ref(),
    ];
    let removed = git(folder, &words).await;
    let printed = printed?;
    removed?;
    Ok(printed)
}

async fn print(folder: &Path, target: &Path) -> Result<Vec<Value>, Error> {
    let program = program::build_into(folder, target, Words::Shown).await?;
    program::manifests(&program, &[]).await
}

/// What git answers.
async fn git(folder: &Path, words: &[impl AsRef<OsStr>]) -> Result<PathBuf, Error> {
    let shown: Vec<String> = words
        .iter()
        .map(|word| word.as_ref().display().to_string())
        .collect();
    let command = format!("git {}", shown.join(" "));
    let output = Command::new("git")
        .current_dir(folder)
        .args(words)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| Error::Start {
            command: command.clone(),
            source,
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::FailedSaying { command, said });
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(PathBuf::from(said.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check_changes;

    fn definition(name: &str, version: &str) -> Value {
        json!({"kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"versions": [{"name": version, "storage": true}]}})
    }

    #[test]
    fn a_definition_or_a_stored_version_that_goes_is_told() {
        let former = [definition("a", "v1"), definition("b", "v1")];
        let present = [definition("b", "v2"), definition("c", "v1")];
        let found = check_changes(&former, &present);
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "change: CustomResourceDefinition a: the definition goes: whoever takes it out of a \
                 cluster deletes all its objects",
                "change: CustomResourceDefinition b: version v1 is removed, and objects are stored \
                 in it: migrate them first; keep it, with served: false if necessary, until each \
                 object has been updated and status.storedVersions of the definition no longer has \
                 v1",
            ]
        );
        assert!(check_changes(&present, &present).is_empty());
    }
}
