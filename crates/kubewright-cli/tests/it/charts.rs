//! What `manifests` writes for kustomize, as that tool reads it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::flow::{of_this_package, succeeds};
use super::kubewright;
use super::ship::kubectl;

const OPERATORS: [&str; 2] = ["mydaemonset", "sidecarset"];

/// What `manifests` prints of an operator, with more flags.
fn manifests(operator: &str, flags: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators");
    let mut command = kubewright(&["manifests", operator]);
    of_this_package(&mut command);
    command.args(["--image", "registry.example.com/operator:1"]);
    command.args(flags);
    let output = succeeds(command, &folder);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    let output = succeeds(command, Path::new("."));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn documents(text: &str) -> Vec<Value> {
    kubewright_wire::yaml::documents(text).expect("YAML")
}

fn sorted(text: &str) -> Vec<String> {
    let mut texts: Vec<String> = documents(text).iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

/// `kubectl kustomize` is kustomize itself.
#[tokio::test]
async fn kustomize_gives_the_objects_that_manifests_prints() {
    let Some(kubectl) = kubectl().await else {
        return;
    };
    for operator in OPERATORS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a path in UTF-8");
        let plain = manifests(operator, &[]);
        manifests(operator, &["--kustomize", path]);
        let built = said(&kubectl, &["kustomize", path]);
        assert_eq!(sorted(&built), sorted(&plain), "{operator}");
    }
}
