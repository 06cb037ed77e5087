//! Rules of the workspace that lints cannot check.

mod architecture;
mod features;
mod kind_literals;
mod map;
mod module_graph;
mod test_filters;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in the workspace")
        .to_owned()
}

/// Returns the output of cargo in the workspace.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--locked")
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Returns the output of `cargo metadata`.
fn metadata(arguments: &[&str]) -> Value {
    let metadata = cargo(&[&["metadata", "--format-version", "1"], arguments].concat());
    serde_json::from_slice(&metadata).expect("cargo metadata prints JSON")
}

/// Returns the packages of the workspace.
fn packages() -> Vec<Value> {
    let metadata = metadata(&["--no-deps"]);
    metadata["packages"]
        .as_array()
        .expect("packages are a list")
        .clone()
}
