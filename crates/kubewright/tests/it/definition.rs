//! The definition of a kind, compared with that of controller-gen for the same kind in Go.

use kubewright::prelude::*;
use serde_json::Value;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "apps.example.io",
    version = "v1beta1",
    kind = "MyDaemonSet",
    namespaced,
    status = "MyDaemonSetStatus",
    printcolumn(
        name = "Available",
        type_ = "integer",
        json_path = ".status.availableReplicas"
    )
)]
struct MyDaemonSetSpec {
    /// The image of each Pod.
    image: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct MyDaemonSetStatus {
    /// The number of available Pods.
    available_replicas: i32,
}

async fn reconcile(_: Arc<MyDaemonSet>, _: Context<MyDaemonSet>) -> Result<Outcome> {
    Ok(Outcome::done())
}

/// Removes descriptions, formats and the annotation of the tool.
fn structure(mut value: Value) -> Value {
    strip(&mut value);
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.retain(|name, _| name == "name");
    }
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Only a schema has a type that is text; a property can have the name of a keyword.
            if fields.get("type").is_some_and(Value::is_string) {
                fields.retain(|name, _| !["description", "format", "title"].contains(&&**name));
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[test]
fn definition_has_the_structure_of_controller_gen() {
    let operator = Operator::new("twin").controller(Controller::new(reconcile));
    let definition = operator.description().custom_resources.remove(0);
    let definition = kubewright_manifest::tidy_crd(&definition);
    let expected: Value =
        serde_saphyr::from_str(include_str!("../golden/mydaemonset.yaml")).unwrap();
    assert_eq!(structure(definition), structure(expected));
}
