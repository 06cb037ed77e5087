//! What `manifests` writes for kustomize and Helm, as these tools read it.

use std::path::Path;
use std::process::Command;

use kubewright_testing::control_plane::Tool;
use serde_json::{Value, json};

use super::flow::{of_this_package, succeeds};
use super::kubewright;
use super::ship::kubectl;
use super::tools::tool;

const OPERATORS: [&str; 2] = ["mydaemonset", "sidecarset"];
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// What comes only when it is asked for.
const COMPONENTS: &str = "network-policy,prometheus,pod-disruption-budget";

fn documents(text: &str) -> Vec<Value> {
    kubewright_wire::yaml::documents(text).expect("YAML")
}

fn sorted(text: &str) -> Vec<String> {
    let mut texts: Vec<String> = documents(text).iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

/// All that an operator is in a cluster, held against a file; `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_manifests_of_mydaemonset_are_as_they_were() {
    let printed = manifests("mydaemonset", &[]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests/mydaemonset.yaml");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &printed).expect("the file");
    }
    let expected = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(printed, expected);
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
        let plain = manifests(operator, &["--with", COMPONENTS]);
        assert!(plain.contains("kind: ServiceMonitor\n"), "{plain}");
        manifests(operator, &["--with", COMPONENTS, "--kustomize", path]);
        let built = said(&kubectl, &["kustomize", path]);
        assert_eq!(sorted(&built), sorted(&plain), "{operator}");
    }
}

/// The object as it is in another namespace: the chart is installed into the release's.
fn moved(object: &Value, from: &str, to: &str) -> Value {
    match object {
        Value::String(text) if text == from => to.into(),
        Value::Array(items) => items.iter().map(|item| moved(item, from, to)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), moved(value, from, to)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// What an object is called, and what it asks for.
fn essence(object: &Value) -> String {
    let name = &object["metadata"]["name"];
    let parts =
        ["rules", "webhooks", "subjects", "spec"].map(|part| match object["kind"].as_str() {
            // The chart's own settings for Pods are there, empty.
            Some("Deployment") => without_empty(&object[part]),
            _ => object[part].clone(),
        });
    format!("{} {name} {}", object["kind"], Value::from(parts.to_vec()))
}

/// The value without fields that say nothing.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), without_empty(value)));
            let says = |value: &Value| {
                !matches!(value, Value::Null) && *value != json!({}) && *value != json!([])
            };
            Value::Object(fields.filter(|(_, value)| says(value)).collect())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

/// What a chart becomes in a namespace.
fn rendered(helm: &Path, chart: &str, namespace: &str) -> String {
    said(helm, &["template", "x", chart, "--namespace", namespace])
}

/// What the chart of an operator becomes in its namespace; nothing without Helm.
pub(super) async fn chart_of(operator: &str) -> Option<String> {
    let helm = tool(Tool::Helm).await?;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a path in UTF-8");
    manifests(operator, &["--helm", path]);
    Some(rendered(&helm, path, &format!("{operator}-system")))
}

#[tokio::test(flavor = "multi_thread")]
async fn helm_takes_the_charts_and_gives_the_same_objects() {
    let Some(helm) = tool(Tool::Helm).await else {
        return;
    };
    for operator in OPERATORS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a path in UTF-8");
        manifests(operator, &["--with", COMPONENTS, "--helm", path]);
        said(&helm, &["lint", "--strict", path]);
        let rendered = rendered(&helm, path, "elsewhere");
        let own = format!("{operator}-system");
        let mut wanted: Vec<String> = documents(&manifests(operator, &["--with", COMPONENTS]))
            .iter()
            .filter(|object| object["kind"] != "Namespace")
            .map(|object| essence(&moved(object, &own, "elsewhere")))
            .collect();
        let mut given: Vec<String> = documents(&rendered).iter().map(essence).collect();
        wanted.sort();
        given.sort();
        assert_eq!(given, wanted, "{operator}");
        let chart = said(&helm, &["show", "chart", path]);
        assert!(chart.contains(&format!("version: {VERSION}")), "{chart}");
        let refused = Command::new(&helm)
            .args(["template", "x", path, "--set", "replicas=2"])
            .output()
            .expect("helm runs");
        assert!(
            !refused.status.success(),
            "the schema of the values is not held"
        );
    }
}
