//! Admission policies of an operator, from its manifests into a cluster and out of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use kube::ResourceExt as _;
use kube::api::ListParams;
use kubewright_manifest::to_yaml;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cluster::Served;
use super::ship::Ground;

/// A folder with a program that prints the file `manifests.yaml`, and with a cargo that says it has
/// built it.
fn printing() -> TempDir {
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

/// Another process writes it: one that this process had open could not be started while a test
/// beside this one starts something.
fn script(path: &Path, line: &str) {
    let text = path.with_extension("sh");
    fs::write(&text, format!("#!/bin/sh\n{line}\n")).expect("a file");
    let mut copy = Command::new("install");
    let copied = copy.args(["-m", "755"]).arg(&text).arg(path).status();
    assert!(copied.expect("install runs").success());
}

fn of_guard(kind: &str, name: &str, spec: Value) -> Value {
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
    let bound = json!({"policyName": name, "validationActions": ["Deny"]});
    [
        of_guard("ValidatingAdmissionPolicy", name, spec),
        of_guard("ValidatingAdmissionPolicyBinding", name, bound),
    ]
}

fn mutating(name: &str) -> [Value; 2] {
    let expression = "[JSONPatch{op: 'add', path: '/immutable', value: true}]";
    let mutations = json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]);
    let spec = json!({
        "matchConstraints": matched(), "mutations": mutations, "reinvocationPolicy": "Never",
    });
    [
        of_guard("MutatingAdmissionPolicy", name, spec),
        of_guard(
            "MutatingAdmissionPolicyBinding",
            name,
            json!({"policyName": name}),
        ),
    ]
}

/// What the program prints from now on: its account and these policies.
fn print(folder: &Path, policies: &[[Value; 2]]) {
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

/// The policies and bindings of the operator that are in the cluster.
async fn present(ground: &Ground) -> Vec<String> {
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
        let api = ground.of("admissionregistration.k8s.io", "v1", kind, plural);
        let selected = ListParams::default().labels("app.kubernetes.io/name=guard");
        let list = api.list(&selected).await.expect("a list");
        let names = list.into_iter().map(|one| one.name_any());
        present.extend(names.map(|name| format!("{kind} {name}")));
    }
    present
}

#[tokio::test]
async fn a_policy_that_the_program_no_longer_has_is_deleted_and_undeploy_leaves_none() {
    let served = Served::start(1);
    let folder = printing();
    let ground = Ground::new("guard", served.kubeconfig()).await;
    let ground = ground.shipping(folder.path());
    let image = ["--image", "registry.example.com/guard:1"];

    print(folder.path(), &[validating("small"), mutating("fixed")]);
    ground.does("deploy", &image);
    let both = [
        "MutatingAdmissionPolicy fixed",
        "MutatingAdmissionPolicyBinding fixed",
        "ValidatingAdmissionPolicy small",
        "ValidatingAdmissionPolicyBinding small",
    ];
    assert_eq!(present(&ground).await, both);

    print(folder.path(), &[validating("small")]);
    let planned = ground.does("deploy", &[&image[..], &["--dry-run"]].concat());
    assert!(
        planned.contains("delete   MutatingAdmissionPolicy fixed"),
        "{planned}"
    );
    assert_eq!(present(&ground).await, both, "a dry run changes nothing");
    let deployed = ground.does("deploy", &image);
    for line in [
        "gone     MutatingAdmissionPolicyBinding fixed",
        "gone     MutatingAdmissionPolicy fixed",
    ] {
        assert!(deployed.contains(line), "{deployed}");
    }
    assert_eq!(present(&ground).await, both[2..]);

    // The program that is there lacks a policy of the one that was deployed.
    print(folder.path(), &[mutating("fixed")]);
    let gone = ground.does("undeploy", &[]);
    assert!(
        gone.contains("gone     ServiceAccount default/guard"),
        "{gone}"
    );
    assert_eq!(present(&ground).await, [] as [&str; 0]);
}
