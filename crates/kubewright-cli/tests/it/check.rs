//! `kubewright check`, on planted faults and on the operators of the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::nested_build::{operator, prepare, succeeds, without_package_variables};
use super::{error_of, kubewright, stdout};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/check")
        .join(name)
}

/// Returns the rules of the findings of a call.
fn rules(arguments: &[&str]) -> Vec<String> {
    let mut command = kubewright(&["check", "--output", "json"]);
    without_package_variables(&mut command);
    let output = command.args(arguments).output().expect("the command runs");
    let result = serde_json::from_slice::<Value>(&output.stdout);
    assert!(result.is_ok(), "{output:?}");
    let result = result.expect("JSON");
    let findings = result["findings"].as_array().expect("a list");
    let code = if findings.is_empty() { 0 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let rule = |finding: &Value| finding["rule"].as_str().expect("a rule").to_owned();
    findings.iter().map(rule).collect()
}

#[test]
fn exactly_the_planted_faults_are_found() {
    let planted = case("planted.yaml");
    let text = fs::read_to_string(&planted).expect("the case");
    let mut expected: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("# fault: "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let planted = planted.to_str().expect("a path in UTF-8");
    let earlier = case("earlier.yaml");
    let earlier = earlier.to_str().expect("a path in UTF-8");
    let mut found = rules(&["--manifests", planted, "--against", earlier]);
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let distinct: BTreeSet<&str> = expected.into_iter().collect();
    assert!(distinct.len() >= 12, "{distinct:?}");
    let fewer = rules(&["--manifests", planted, "--allow", "float,webhook"]);
    assert!(!fewer.contains(&"float".to_owned()), "{fewer:?}");
}

#[test]
fn definition_that_kubectl_cannot_apply_is_a_finding() {
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

/// One definition has a name other than PLURAL.GROUP, another one a default that is not a number.
#[test]
fn rejection_by_the_server_is_a_finding_even_if_its_rule_is_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rejected.yaml");
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
    assert_eq!(rules(&["--manifests", path]), ["float", "rejected"]);
    let allowed = rules(&["--manifests", path, "--allow", "float"]);
    assert_eq!(allowed, ["rejected"]);
    let invalid = crd("xs.ex.io", json!({"type": "integer", "default": "big"}));
    fs::write(&file, invalid.to_string()).expect("a file");
    assert_eq!(rules(&["--manifests", path]), ["default"]);
    let allowed = rules(&["--manifests", path, "--allow", "default"]);
    let is_rejected = !allowed.is_empty() && allowed.iter().all(|rule| rule == "rejected");
    assert!(is_rejected, "{allowed:?}");
}

/// Writes a package without dependencies whose program prints the manifests.
fn package(folder: &Path, manifests: &str) {
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let cargo = "[package]\nname = \"printed-manifests\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), cargo).expect("a file");
    let main = format!("fn main() {{ print!(\"{{}}\", {manifests:?}); }}\n");
    fs::write(folder.join("src/main.rs"), main).expect("a file");
    fs::write(folder.join(".gitignore"), "target\n").expect("a file");
}

#[test]
fn change_since_a_revision_is_a_finding() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("project");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=test", "-c", "user.email=test@example.com"]);
        command.args(arguments);
        succeeds(command, &folder)
    };
    let earlier = fs::read_to_string(case("earlier.yaml")).expect("the case");
    package(&folder, &earlier);
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "first"]);
    package(
        &folder,
        &earlier.replace("domain: {type: string}", "domain: {type: integer}"),
    );
    let mut command = kubewright(&["check", "--since", "HEAD"]);
    without_package_variables(&mut command);
    let output = command
        .current_dir(&folder)
        .output()
        .expect("the command runs");
    let error = error_of(&output);
    assert!(error.contains("1 faults"), "{error}");
    let findings = stdout(&output);
    assert!(
        findings.contains("v1: .spec.domain becomes integer where it was string"),
        "{findings}"
    );
    let worktrees = stdout(&git(&["worktree", "list"]));
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
}

#[test]
fn workspace_operators_have_no_faults() {
    for name in ["mydaemonset", "sidecarset"] {
        let folder = operator(name);
        let found = rules(&[folder.to_str().expect("a path in UTF-8")]);
        assert_eq!(found, [] as [&str; 0], "{name}");
    }
}
