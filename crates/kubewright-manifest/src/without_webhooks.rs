//! Objects and descriptions without calls of the operator's webhooks.

use kubewright_core::Description;
use serde_json::Value;

/// Whether the object makes the API server call the operator: a webhook configuration, or a
/// definition with a conversion webhook.
pub fn calls_webhooks(object: &Value) -> bool {
    let kind = object["kind"].as_str();
    kind.is_some_and(|kind| kind.ends_with("WebhookConfiguration")) || is_converted(object)
}

/// Whether the object is a definition with a conversion webhook.
pub fn is_converted(object: &Value) -> bool {
    object["spec"]["conversion"]["strategy"] == "Webhook"
}

/// Removes the conversion of a definition, and all versions but the storage version, which cannot
/// be served without it.
pub fn keep_only_storage_version(definition: &mut Value) {
    if let Some(spec) = definition["spec"].as_object_mut() {
        spec.remove("conversion");
    }
    if let Some(versions) = definition["spec"]["versions"].as_array_mut() {
        versions.retain(|version| version["storage"] == true);
    }
}

/// The objects for a cluster that cannot call the operator: without configurations, and with only
/// the storage version of converted kinds.
pub fn without_webhooks(objects: Vec<Value>) -> Vec<Value> {
    objects
        .into_iter()
        .filter_map(|mut object| {
            if !is_converted(&object) {
                return (!calls_webhooks(&object)).then_some(object);
            }
            keep_only_storage_version(&mut object);
            Some(object)
        })
        .collect()
}

/// The description without anything that the API server calls.
pub(crate) fn without_webhook_calls(description: &Description) -> Description {
    let mut reduced = description.clone();
    for definition in &mut reduced.custom_resources {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        if description.conversion_of(name).is_some() {
            keep_only_storage_version(definition);
        }
    }
    reduced.webhooks.clear();
    reduced.conversions.clear();
    reduced.authorizes = false;
    reduced
}

#[cfg(test)]
mod tests {
    use kubewright_core::{ConversionDescription, Description, Kind, Resource, Scope};
    use serde_json::{Value, json};

    use super::{calls_webhooks, without_webhooks};
    use crate::{ManifestOptions, WebhookCertificates, WebhookUse, deployment, objects};

    #[test]
    fn converted_kind_has_only_its_storage_version_without_webhooks() {
        let converted = json!({"kind": "CustomResourceDefinition", "spec": {
            "conversion": {"strategy": "Webhook"},
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        let plain = json!({"kind": "CustomResourceDefinition", "spec": {
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        let hook = json!({"kind": "ValidatingWebhookConfiguration"});
        assert!(calls_webhooks(&converted) && calls_webhooks(&hook));
        assert!(!calls_webhooks(&plain));
        let stored = json!({"kind": "CustomResourceDefinition", "spec": {
            "versions": [{"name": "v1", "storage": true}],
        }});
        assert_eq!(
            without_webhooks(vec![converted, hook, plain.clone()]),
            [stored, plain]
        );
    }

    #[test]
    fn manifests_without_webhooks_have_no_trace_of_them() {
        let hub = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        let description = Description {
            name: "sets".to_owned(),
            custom_resources: vec![json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "sets.ex.io"},
                "spec": {"group": "ex.io", "versions": [
                    {"name": "v1", "storage": true}, {"name": "v2", "storage": false},
                ]},
            })],
            conversions: vec![ConversionDescription {
                hub,
                spokes: vec!["v2".to_owned()],
            }],
            authorizes: true,
            ..Description::default()
        };
        let printed = |webhooks: WebhookUse| {
            let options = ManifestOptions {
                webhooks,
                certificates: WebhookCertificates::Managed,
                ..ManifestOptions::default()
            };
            let mut printed = objects(&description, &options);
            printed.extend(deployment(&description, &options, "sets:1"));
            printed
        };
        let has_service = |objects: &[Value]| {
            objects.iter().any(|object| {
                object["kind"] == "Service" && object["metadata"]["name"] == "sets-webhook"
            })
        };
        let on = printed(WebhookUse::On);
        assert!(on.iter().any(calls_webhooks) && has_service(&on));
        let off = printed(WebhookUse::Off);
        assert!(!off.iter().any(calls_webhooks) && !has_service(&off));
        let definition = off
            .iter()
            .find(|object| object["kind"] == "CustomResourceDefinition");
        let versions = definition.unwrap()["spec"]["versions"].as_array().unwrap();
        let names: Vec<_> = versions.iter().map(|version| &version["name"]).collect();
        assert_eq!(names, ["v1"]);
        let deployment = off
            .iter()
            .find(|object| object["kind"] == "Deployment")
            .unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let arguments = container["args"].as_array().unwrap();
        assert!(arguments.contains(&json!("--no-webhooks")), "{arguments:?}");
        assert!(!arguments.contains(&json!("--managed-certificates")));
    }
}
