//! The webhook configuration of a kind, compared with that of controller-gen for the same kind in Go.

use kubewright::policy::NamedExpression;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};
use kubewright_manifest::{ManifestOptions, objects};
use serde_json::{Value, json};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "apps.kubewright.dev",
    version = "v1beta1",
    kind = "MyDaemonSet",
    namespaced
)]
struct MyDaemonSetSpec {
    image: String,
}

fn check(_: &Change<MyDaemonSet>, _: &mut Findings) {}

/// Removes names, which differ, and the fields that controller-gen does not set: the timeout and the
/// match condition for finalizers.
fn structure(mut value: Value) -> Value {
    value["metadata"] = Value::Null;
    for webhook in value["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["name"] = Value::Null;
        let service = &mut webhook["clientConfig"]["service"];
        assert!(service["name"].is_string() && service["namespace"].is_string());
        service["name"] = Value::Null;
        service["namespace"] = Value::Null;
        let webhook = webhook.as_object_mut().expect("a webhook");
        webhook.remove("timeoutSeconds");
        if webhook.get("matchConditions") == Some(&own_condition()) {
            webhook.remove("matchConditions");
        }
    }
    value
}

/// Returns the condition of a webhook without conditions of the user.
fn own_condition() -> Value {
    let condition = NamedExpression::not_finalizing();
    json!([{"name": condition.name, "expression": condition.expression}])
}

#[test]
fn webhook_configuration_equals_that_of_controller_gen() {
    let operator = Operator::new("mydaemonset").webhook(Webhook::validates(check));
    let objects = objects(&operator.description(), &ManifestOptions::default());
    let ours = objects
        .into_iter()
        .find(|object| object["kind"] == "ValidatingWebhookConfiguration")
        .expect("a configuration");
    let expected: Value =
        serde_saphyr::from_str(include_str!("../golden/mydaemonset-webhook.yaml")).unwrap();
    assert_eq!(structure(ours), structure(expected));
}
