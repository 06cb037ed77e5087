//! A package, as cargo describes it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::cargo::cargo;
use crate::error::Error;

/// A package, including what it inherits from its workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    /// The programs that it builds by default.
    pub(crate) programs: Vec<String>,
    /// The target folder.
    pub(crate) target: PathBuf,
}

/// Reads the package in a folder with `cargo metadata`.
///
/// # Cancel safety
///
/// Safe: cargo only reads.
pub(crate) async fn package(folder: &Path) -> Result<Package, Error> {
    let command = "cargo metadata".to_owned();
    let output = cargo(folder)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| Error::Start {
            command: format!("{command} (in {})", folder.display()),
            source,
        })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::FailedWithOutput { command, output });
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let path = folder.join("Cargo.toml");
    let manifest = path.canonicalize().unwrap_or(path);
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages
        .find(|package| package["manifest_path"].as_str().map(Path::new) == Some(&*manifest))
        .ok_or_else(|| Error::NotAPackage {
            path: manifest.clone(),
        })?;
    let text = |name: &str| package[name].as_str().map(str::to_owned);
    Ok(Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        description: text("description"),
        license: text("license"),
        repository: text("repository"),
        programs: programs(package),
        target: metadata["target_directory"]
            .as_str()
            .map_or_else(|| folder.join("target"), PathBuf::from),
    })
}

fn programs(package: &Value) -> Vec<String> {
    let targets = package["targets"].as_array().into_iter().flatten();
    let programs = targets.filter(|target| {
        let kinds = target["kind"].as_array();
        kinds.is_some_and(|kinds| kinds.contains(&"bin".into()))
            && target["required-features"].is_null()
    });
    let names = programs.filter_map(|target| target["name"].as_str());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::programs;

    #[test]
    fn program_that_requires_a_feature_is_not_built_by_default() {
        let package = json!({"targets": [
            {"name": "web", "kind": ["lib"]},
            {"name": "web", "kind": ["bin"]},
            {"name": "extra", "kind": ["bin"], "required-features": ["extra"]},
            {"name": "it", "kind": ["test"]},
        ]});
        assert_eq!(programs(&package), ["web"]);
    }
}
