//! Steps of a test: the kinds of an operator are installed, changed and uninstalled.

use std::fs;
use std::path::Path;
use std::time::Duration;

use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::target_cluster::TargetCluster;
use crate::{error_of, kubewright, stderr};

pub(super) const DEFINITION: &str = "mydaemonsets.apps.kubewright.dev";

/// Installs the kinds and uninstalls them, which fails while objects of them exist.
pub(super) async fn install_and_uninstall_kinds(cluster: &TargetCluster) {
    let planned = cluster.succeed("install", &["--dry-run"]);
    assert!(
        planned.contains(&format!("new      CustomResourceDefinition {DEFINITION}")),
        "{planned}"
    );
    assert!(has_line(&planned, "+ ", "kind: MyDaemonSet"), "{planned}");
    assert!(
        definition(cluster).await.is_none(),
        "a dry run changes nothing"
    );
    check_output_formats(cluster);
    let installed = cluster.succeed("install", &[]);
    assert!(
        installed.contains(&format!("ready    CustomResourceDefinition {DEFINITION}")),
        "{installed}"
    );
    compare_types_from_cluster_and_file(cluster);
    let again = cluster.succeed("install", &[]);
    assert!(again.contains("same     1 objects"), "{again}");

    let sample = json!({
        "apiVersion": "apps.kubewright.dev/v1beta1", "kind": "MyDaemonSet",
        "metadata": {"name": "kept", "namespace": "default"}, "spec": {"image": "a"},
    });
    let resource = ApiResource {
        group: "apps.kubewright.dev".to_owned(),
        version: "v1beta1".to_owned(),
        api_version: "apps.kubewright.dev/v1beta1".to_owned(),
        kind: "MyDaemonSet".to_owned(),
        plural: "mydaemonsets".to_owned(),
    };
    let sets: Api<DynamicObject> = Api::namespaced_with(cluster.client(), "default", &resource);
    let as_test = PatchParams::apply("test").force();
    sets.patch("kept", &as_test, &Patch::Apply(&sample))
        .await
        .expect("the sample is stored");
    let error = error_of(&cluster.call("uninstall", &[]));
    assert!(
        error.contains(&format!("1 of {DEFINITION} would be deleted with them")),
        "{error}"
    );
    let planned = cluster.succeed("uninstall", &["--dry-run"]);
    let line = format!("delete   CustomResourceDefinition {DEFINITION} (1 objects)");
    assert!(planned.contains(&line), "{planned}");
    assert!(planned.contains("--delete-instances"), "{planned}");
    assert!(definition(cluster).await.is_some(), "nothing was deleted");
    keep_earlier_definition(cluster).await;

    reject_breaking_change(cluster, &sets).await;
    reject_impossible_changes(cluster).await;
}

/// A definition that only an earlier version of the operator had is kept.
async fn keep_earlier_definition(cluster: &TargetCluster) {
    let name = "formers.apps.kubewright.dev";
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let earlier = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "mydaemonset"}},
        "spec": {
            "group": "apps.kubewright.dev", "scope": "Namespaced",
            "names": {"kind": "Former", "plural": "formers"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    let definitions = cluster.definitions();
    let as_kubewright = PatchParams::apply("kubewright");
    let applied = definitions
        .patch(name, &as_kubewright, &Patch::Apply(&earlier))
        .await;
    applied.expect("the definition is stored");
    let installed = cluster.succeed("install", &[]);
    let line = format!("keep     CustomResourceDefinition {name}: the operator no longer has it");
    assert!(installed.contains(&line), "{installed}");
    let kept = definitions.get_opt(name).await.expect("a response");
    assert!(kept.is_some(), "nothing was deleted");
    let deleted = definitions.delete(name, &DeleteParams::default()).await;
    deleted.expect("the definition is deleted");
}

/// A change that removes a field of a stored object fails; without such an object it succeeds.
async fn reject_breaking_change(cluster: &TargetCluster, sets: &Api<DynamicObject>) {
    add_field(cluster).await;
    let extra = |value: Value| Patch::Merge(json!({"spec": {"extra": value}}));
    let plain = PatchParams::default();
    // A server takes a moment to serve a changed definition, and drops the field until then.
    let stored = async {
        loop {
            let patched = sets.patch("kept", &plain, &extra(json!("x"))).await;
            if patched.expect("the object").data["spec"]["extra"] == "x" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let within = tokio::time::timeout(Duration::from_secs(20), stored);
    within.await.expect("the new field is served");
    let error = error_of(&cluster.call("install", &["--force-conflicts"]));
    assert!(error.contains("v1beta1: .spec.extra is removed"), "{error}");
    let broken = "default/kept: .spec.extra would be dropped";
    assert!(error.contains(broken), "{error}");
    let forced = ["--dry-run", "--allow-unsafe", "--force-conflicts"];
    let planned = cluster.succeed("install", &forced);
    assert!(has_line(&planned, "- ", "extra:"), "{planned}");
    let patched = sets.patch("kept", &plain, &extra(Value::Null)).await;
    patched.expect("the object");
    let planned = cluster.succeed("install", &["--dry-run", "--force-conflicts"]);
    assert!(planned.contains(".spec.extra is removed: "), "{planned}");
    assert!(planned.contains("no object breaks"), "{planned}");
}

/// The errors for a removed stored version and for another scope name the solution instead of the
/// response 422.
async fn reject_impossible_changes(cluster: &TargetCluster) {
    let live = definition(cluster).await.expect("the definition");
    let mut versions = live.data["spec"]["versions"].clone();
    versions[0]["storage"] = false.into();
    let mut earlier = versions[0].clone();
    earlier["name"] = "v1alpha0".into();
    earlier["storage"] = true.into();
    versions.as_array_mut().expect("versions").push(earlier);
    let patch: Value = json!({"spec": {"versions": versions}});
    let definitions = cluster.definitions();
    definitions
        .patch(DEFINITION, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .expect("the definition is changed");
    for force in [
        &["--force-conflicts"][..],
        &["--force-conflicts", "--allow-unsafe"],
    ] {
        let error = error_of(&cluster.call("install", force));
        let reason =
            format!("{DEFINITION}: version v1alpha0 is removed, and objects are stored in it");
        assert!(error.contains(&reason), "{error}");
        assert!(!error.contains("422"), "{error}");
    }
    let image = [
        "--image",
        "registry.example.com/mydaemonset:1",
        "--force-conflicts",
    ];
    let error = error_of(&cluster.call("deploy", &image));
    assert!(error.contains("version v1alpha0 is removed"), "{error}");
    cluster.succeed("uninstall", &["--delete-instances"]);
    assert!(definition(cluster).await.is_none());

    let mut spec = live.data["spec"].clone();
    spec["scope"] = "Cluster".into();
    let cluster_scoped = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITION}, "spec": spec,
    });
    let cluster_scoped: DynamicObject =
        serde_json::from_value(cluster_scoped).expect("a definition");
    let created = definitions
        .create(&PostParams::default(), &cluster_scoped)
        .await;
    created.expect("the definition is stored");
    let error = error_of(&cluster.call("install", &["--force-conflicts"]));
    let reason = "the scope changes from Cluster to Namespaced: uninstall the definition";
    assert!(error.contains(reason), "{error}");
    cluster.succeed("uninstall", &[]);
    assert!(definition(cluster).await.is_none());
}

/// Standard output contains only the result; progress is on standard error.
fn check_output_formats(cluster: &TargetCluster) {
    let output = cluster.call("install", &["--dry-run", "--output", "json"]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let object = json!({
        "action": "new", "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "namespace": null, "name": DEFINITION,
    });
    assert_eq!(result, json!({"dryRun": true, "objects": [object]}));
    let progress = stderr(&output);
    assert!(
        progress.contains("new      CustomResourceDefinition"),
        "{progress}"
    );
    let yaml = cluster.succeed("install", &["--dry-run", "--output", "yaml"]);
    let documents = kubewright_wire::yaml::documents(&yaml).expect("YAML");
    assert_eq!(documents, [result]);
    let names = cluster.succeed("install", &["--dry-run", "--output", "name"]);
    let name = format!("customresourcedefinition.apiextensions.k8s.io/{DEFINITION}\n");
    assert_eq!(names, name);
}

/// `generate types` returns the same for a definition in the cluster and in a file.
fn compare_types_from_cluster_and_file(cluster: &TargetCluster) {
    let manifests = cluster.succeed_without_cluster("manifests", &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("manifests.yaml");
    fs::write(&file, manifests).expect("a file");
    let types = |flag: &str, value: &Path| {
        let mut command = kubewright(&["generate", "types", flag]);
        command
            .arg(value)
            .arg("--kubeconfig")
            .arg(cluster.kubeconfig());
        let output = command.output().expect("the command runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("a text")
    };
    let live = types("--crd", Path::new(DEFINITION));
    assert!(live.contains("pub struct MyDaemonSetSpec"), "{live}");
    assert_eq!(live, types("--file", &file));
}

/// Returns the definition in the cluster.
pub(super) async fn definition(cluster: &TargetCluster) -> Option<DynamicObject> {
    let definitions = cluster.definitions();
    definitions.get_opt(DEFINITION).await.expect("a response")
}

/// Whether the difference has a line with the sign that contains the text.
pub(super) fn has_line(difference: &str, sign: &str, text: &str) -> bool {
    let mut lines = difference.lines().map(str::trim_start);
    lines.any(|line| line.starts_with(sign) && line.contains(text))
}

/// Adds a field to the definition in the cluster that the program does not have.
async fn add_field(cluster: &TargetCluster) {
    let live = definition(cluster).await.expect("the definition");
    let mut versions = live.data["spec"]["versions"].clone();
    versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["extra"] =
        json!({"type": "string"});
    let patch: Value = json!({"spec": {"versions": versions}});
    let definitions = cluster.definitions();
    definitions
        .patch(DEFINITION, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .expect("the definition is changed");
}
