//! `kubewright check`, on planted faults and on the operators of the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::flow::{of_this_package, prepare, succeeds};
use super::{complaint, kubewright};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/check")
        .join(name)
}

/// The rules that a call found something by.
fn rules(arguments: &[&str]) -> Vec<String> {
    let mut command = kubewright(&["check", "--output", "json"]);
    of_this_package(&mut command);
    let output = command.args(arguments).output().expect("the command runs");
    let answer = serde_json::from_slice::<Value>(&output.stdout);
    assert!(answer.is_ok(), "{output:?}");
    let answer = answer.expect("JSON");
    let found = answer["findings"].as_array().expect("a list");
    let code = if found.is_empty() { 0 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let rule = |one: &Value| one["rule"].as_str().expect("a rule").to_owned();
    found.iter().map(rule).collect()
}

#[test]
fn every_planted_fault_is_found_and_nothing_else() {
    let planted = case("planted.yaml");
    let text = fs::read_to_string(&planted).expect("the case");
    let mut wanted: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("# fault: "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let planted = planted.to_str().expect("a path in UTF-8");
    let former = case("former.yaml");
    let former = former.to_str().expect("a path in UTF-8");
    let mut found = rules(&["--manifests", planted, "--against", former]);
    found.sort();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let kinds: BTreeSet<&str> = wanted.into_iter().collect();
    assert!(kinds.len() >= 12, "{kinds:?}");
    let fewer = rules(&["--manifests", planted, "--allow", "float,guard"]);
    assert!(!fewer.contains(&"float".to_owned()), "{fewer:?}");
}

#[test]
fn a_definition_that_kubectl_cannot_apply_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large.yaml");
    let long = "words ".repeat(50_000);
    let schema = json!({"type": "object", "description": long});
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "xs.ex.io"}, "spec": {"group": "ex.io", "scope": "Namespaced",
            "names": {"kind": "X", "plural": "xs"}, "versions": [{"name": "v1", "served": true,
            "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    fs::write(&file, crd.to_string()).expect("a file");
    let found = rules(&["--manifests", file.to_str().expect("a path in UTF-8")]);
    assert_eq!(found, ["size"]);
}

/// Its name is not that of plural and group, and a default is no number.
#[test]
fn what_the_server_refuses_is_told_beside_other_faults_and_those_that_are_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("refused.yaml");
    let path = file.to_str().expect("a path in UTF-8");
    let crd = |name: &str, ratio: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name}, "spec": {"group": "ex.io", "scope": "Namespaced",
                "names": {"kind": "X", "plural": "xs"}, "versions": [{"name": "v1", "served": true,
                "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"ratio": ratio}}}}]}})
    };
    let misnamed = crd("x.ex.io", json!({"type": "number"}));
    fs::write(&file, misnamed.to_string()).expect("a file");
    assert_eq!(rules(&["--manifests", path]), ["float", "refused"]);
    let allowed = rules(&["--manifests", path, "--allow", "float"]);
    assert_eq!(allowed, ["refused"]);
    let wrong = crd("xs.ex.io", json!({"type": "integer", "default": "big"}));
    fs::write(&file, wrong.to_string()).expect("a file");
    assert_eq!(rules(&["--manifests", path]), ["default"]);
    let allowed = rules(&["--manifests", path, "--allow", "default"]);
    let is_refused = !allowed.is_empty() && allowed.iter().all(|rule| rule == "refused");
    assert!(is_refused, "{allowed:?}");
}

/// A package without dependencies that prints what an operator would.
fn package(folder: &Path, manifests: &str) {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let cargo = "[package]\nname = \"printed-manifests\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), cargo).expect("a file");
    let main = format!("fn main() {{ print!(\"{{}}\", {manifests:?}); }}\n");
    fs::write(folder.join("src/main.rs"), main).expect("a file");
    fs::write(folder.join(".gitignore"), "target\n").expect("a file");
}

#[test]
fn changes_since_a_revision_are_told() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("project");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=test", "-c", "user.email=test@example.com"]);
        command.args(arguments);
        succeeds(command, &folder)
    };
    let former = fs::read_to_string(case("former.yaml")).expect("the case");
    package(&folder, &former);
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "first"]);
    package(
        &folder,
        &former.replace("domain: {type: string}", "domain: {type: integer}"),
    );
    let mut command = kubewright(&["check", "--since", "HEAD"]);
    of_this_package(&mut command);
    let output = command
        .current_dir(&folder)
        .output()
        .expect("the command runs");
    let said = complaint(&output);
    assert!(said.contains("1 faults"), "{said}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.contains("v1: .spec.domain becomes integer where it was string"),
        "{told}"
    );
    let kept = git(&["worktree", "list"]);
    let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert_eq!(kept.lines().count(), 1, "{kept}");
}

#[test]
fn the_operators_of_this_workspace_have_no_fault() {
    let operators = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators");
    for name in ["mydaemonset", "sidecarset"] {
        let folder = operators.join(name);
        let found = rules(&[folder.to_str().expect("a path in UTF-8")]);
        assert_eq!(found, [] as [&str; 0], "{name}");
    }
}
