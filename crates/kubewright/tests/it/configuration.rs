//! The webhook configuration of a kind beside the one that controller-gen makes of its twin in Go.

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

/// A configuration without the names that everybody chooses for himself, and without what is only
/// said here: how long the API server waits, and that it asks nobody about finalizers.
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

/// The only condition of a webhook that was given none.
fn own_condition() -> Value {
    let NamedExpression { name, expression } = NamedExpression::not_finalizing();
    json!([{"name": name, "expression": expression}])
}

#[test]
fn a_webhook_configuration_is_the_one_that_controller_gen_writes() {
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
