//! The output of `manifests` for kustomize and Helm, read by these tools.

use std::path::Path;
use std::process::Command;

use kubewright_testing::control_plane::Tool;
use serde_json::{Value, json};

use super::nested_build::{succeeds, without_package_variables};
use super::tools::{kubectl, tool};
use super::{kubewright, stdout};

const OPERATORS: [&str; 2] = ["mydaemonset", "sidecarset"];
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the output of `manifests` for an operator.
fn manifests(operator: &str, flags: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators");
    let mut command = kubewright(&["manifests", operator]);
    without_package_variables(&mut command);
    command.args(["--image", "registry.example.com/operator:1"]);
    command.args(flags);
    stdout(&succeeds(command, &folder))
}

fn output_of(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    stdout(&succeeds(command, Path::new(".")))
}

/// The optional components.
const COMPONENTS: &str = "network-policy,prometheus,pod-disruption-budget";

fn documents(text: &str) -> Vec<Value> {
    kubewright_wire::yaml::documents(text).expect("YAML")
}

fn sorted(text: &str) -> Vec<String> {
    let mut texts: Vec<String> = documents(text).iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

/// `UPDATE_EXPECT=1` writes the expected file.
#[test]
fn manifests_of_mydaemonset_match_the_expected_file() {
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
async fn kustomize_builds_the_objects_that_manifests_prints() {
    let Some(kubectl) = kubectl().await else {
        return;
    };
    for operator in OPERATORS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a path in UTF-8");
        let plain = manifests(operator, &["--with", COMPONENTS]);
        assert!(plain.contains("kind: ServiceMonitor\n"), "{plain}");
        manifests(operator, &["--with", COMPONENTS, "--kustomize", path]);
        let built = output_of(&kubectl, &["kustomize", path]);
        assert_eq!(sorted(&built), sorted(&plain), "{operator}");
    }
}

/// Returns the object in another namespace: a chart is installed into that of the release.
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

/// Returns the parts of an object that the chart must have.
fn compared_parts(object: &Value) -> String {
    let name = &object["metadata"]["name"];
    let parts =
        ["rules", "webhooks", "subjects", "spec"].map(|part| match object["kind"].as_str() {
            // The chart has empty settings for Pods.
            Some("Deployment") => without_empty(&object[part]),
            _ => object[part].clone(),
        });
    format!("{} {name} {}", object["kind"], Value::from(parts.to_vec()))
}

/// Returns the value without empty fields.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), without_empty(value)));
            let is_empty =
                |value: &Value| value.is_null() || *value == json!({}) || *value == json!([]);
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

/// Renders a chart in a namespace.
fn rendered(helm: &Path, chart: &str, namespace: &str) -> String {
    output_of(helm, &["template", "x", chart, "--namespace", namespace])
}

/// Renders the chart of an operator in its namespace; none without Helm.
pub(super) async fn chart_of(operator: &str) -> Option<String> {
    let helm = tool(Tool::Helm).await?;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a path in UTF-8");
    manifests(operator, &["--helm", path]);
    Some(rendered(&helm, path, &format!("{operator}-system")))
}

#[tokio::test(flavor = "multi_thread")]
async fn helm_renders_the_objects_that_manifests_prints() {
    let Some(helm) = tool(Tool::Helm).await else {
        return;
    };
    for operator in OPERATORS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a path in UTF-8");
        manifests(operator, &["--with", COMPONENTS, "--helm", path]);
        output_of(&helm, &["lint", "--strict", path]);
        let rendered = rendered(&helm, path, "elsewhere");
        let own = format!("{operator}-system");
        let mut expected: Vec<String> = documents(&manifests(operator, &["--with", COMPONENTS]))
            .iter()
            .filter(|object| object["kind"] != "Namespace")
            .map(|object| compared_parts(&moved(object, &own, "elsewhere")))
            .collect();
        let mut actual: Vec<String> = documents(&rendered).iter().map(compared_parts).collect();
        expected.sort();
        actual.sort();
        assert_eq!(actual, expected, "{operator}");
        let chart = output_of(&helm, &["show", "chart", path]);
        assert!(chart.contains(&format!("version: {VERSION}")), "{chart}");
        let invalid = Command::new(&helm)
            .args(["template", "x", path, "--set", "replicas=2"])
            .output()
            .expect("helm runs");
        assert!(
            !invalid.status.success(),
            "values are validated against the schema"
        );
    }
}
