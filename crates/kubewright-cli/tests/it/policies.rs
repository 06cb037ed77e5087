//! Admission policies of an operator, deployed, changed and undeployed.

use std::fs;
use std::path::Path;
use std::process::Command;

use kube::ResourceExt as _;
use kube::api::ListParams;
use kubewright_manifest::to_yaml;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cluster::ServedCluster;
use super::target_cluster::TargetCluster;

/// Returns a folder with a program that prints the file `manifests.yaml`, and with a `cargo` that
/// reports this program as the result of a build.
fn operator_folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path().canonicalize().expect("the folder's path");
    let (manifest, program) = (here.join("Cargo.toml"), here.join("program"));
    fs::write(&manifest, "").expect("a file");
    let target = json!({"name": "guard", "kind": ["bin"]});
    let metadata = json!({"packages": [
        {"name": "guard", "version": "0.1.0", "manifest_path": manifest, "targets": [target]},
    ]});
    fs::write(here.join("metadata"), metadata.to_string()).expect("a file");
    let built = json!({
        "reason": "compiler-artifact", "manifest_path": manifest, "executable": program,
    });
    fs::write(here.join("build"), built.to_string()).expect("a file");
    let path = here.display();
    script(&here.join("cargo"), &format!("exec cat '{path}'/$1"));
    script(&program, &format!("exec cat '{path}'/manifests.yaml"));
    folder
}

/// Writes an executable script. Another process writes it: a file that this process has open could be
/// inherited by the process of another test, and could then not be executed.
fn script(path: &Path, line: &str) {
    let text = path.with_extension("sh");
    fs::write(&text, format!("#!/bin/sh\n{line}\n")).expect("a file");
    let mut copy = Command::new("install");
    let copied = copy.args(["-m", "755"]).arg(&text).arg(path).status();
    assert!(copied.expect("install runs").success());
}

fn guard_object(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "spec": spec,
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "guard"}},
    })
}

fn matched() -> Value {
    json!({"resourceRules": [{
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["configmaps"],
    }]})
}

fn validating(name: &str) -> [Value; 2] {
    let validations = json!([{"expression": "object.data.size() < 9", "message": "too large"}]);
    let spec = json!({"matchConstraints": matched(), "validations": validations});
    let binding = json!({"policyName": name, "validationActions": ["Deny"]});
    [
        guard_object("ValidatingAdmissionPolicy", name, spec),
        guard_object("ValidatingAdmissionPolicyBinding", name, binding),
    ]
}

fn mutating(name: &str) -> [Value; 2] {
    let expression = "[JSONPatch{op: 'add', path: '/immutable', value: true}]";
    let mutations = json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]);
    let spec = json!({
        "matchConstraints": matched(), "mutations": mutations, "reinvocationPolicy": "Never",
    });
    [
        guard_object("MutatingAdmissionPolicy", name, spec),
        guard_object(
            "MutatingAdmissionPolicyBinding",
            name,
            json!({"policyName": name}),
        ),
    ]
}

/// Makes the program print its account and these policies.
fn set_manifests(folder: &Path, policies: &[[Value; 2]]) {
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {
            "name": "guard", "namespace": "default", "labels": {"app.kubernetes.io/name": "guard"},
        },
    });
    let mut objects = vec![account];
    objects.extend(policies.iter().flatten().cloned());
    let text = to_yaml(&objects).expect("YAML");
    fs::write(folder.join("manifests.yaml"), text).expect("a file");
}

/// Returns the policies and bindings of the operator in the cluster.
async fn present(cluster: &TargetCluster) -> Vec<String> {
    let mut present = Vec::new();
    for (kind, plural) in [
        ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
        (
            "MutatingAdmissionPolicyBinding",
            "mutatingadmissionpolicybindings",
        ),
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        (
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
        ),
    ] {
        let api = cluster.api("admissionregistration.k8s.io", "v1", kind, plural);
        let selected = ListParams::default().labels("app.kubernetes.io/name=guard");
        let list = api.list(&selected).await.expect("a list");
        let names = list.into_iter().map(|object| object.name_any());
        present.extend(names.map(|name| format!("{kind} {name}")));
    }
    present
}

#[tokio::test]
async fn policy_is_deleted_when_the_program_no_longer_has_it_and_by_undeploy() {
    let served = ServedCluster::start(1);
    let folder = operator_folder();
    let workspace_target = TargetCluster::new("guard", served.kubeconfig()).await;
    let cluster = workspace_target.with_operator_in(folder.path());
    let image = ["--image", "registry.example.com/guard:1"];

    set_manifests(folder.path(), &[validating("small"), mutating("fixed")]);
    cluster.succeed("deploy", &image);
    let both = [
        "MutatingAdmissionPolicy fixed",
        "MutatingAdmissionPolicyBinding fixed",
        "ValidatingAdmissionPolicy small",
        "ValidatingAdmissionPolicyBinding small",
    ];
    assert_eq!(present(&cluster).await, both);

    set_manifests(folder.path(), &[validating("small")]);
    let planned = cluster.succeed("deploy", &[&image[..], &["--dry-run"]].concat());
    assert!(
        planned.contains("delete   MutatingAdmissionPolicy fixed"),
        "{planned}"
    );
    assert_eq!(present(&cluster).await, both, "a dry run changes nothing");
    let deployed = cluster.succeed("deploy", &image);
    for line in [
        "gone     MutatingAdmissionPolicyBinding fixed",
        "gone     MutatingAdmissionPolicy fixed",
    ] {
        assert!(deployed.contains(line), "{deployed}");
    }
    assert_eq!(present(&cluster).await, both[2..]);

    // The current program does not have the policy of the deployed one.
    set_manifests(folder.path(), &[mutating("fixed")]);
    let undeployed = cluster.succeed("undeploy", &[]);
    assert!(
        undeployed.contains("gone     ServiceAccount default/guard"),
        "{undeployed}"
    );
    assert_eq!(present(&cluster).await, [] as [&str; 0]);
}
