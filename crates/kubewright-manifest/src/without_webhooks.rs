use kubewright_core::Description;
use serde_json::Value;

/// Whether the object makes the API server call the operator: a webhook configuration, or the
/// definition of a kind that the operator converts.
pub fn calls_webhooks(object: &Value) -> bool {
    let kind = object["kind"].as_str();
    kind.is_some_and(|kind| kind.ends_with("WebhookConfiguration")) || is_converted(object)
}

/// Whether the object defines a kind that the operator converts.
pub fn is_converted(object: &Value) -> bool {
    object["spec"]["conversion"]["strategy"] == "Webhook"
}

/// Leaves of a definition the stored version alone: nobody is there who would convert the others.
pub fn stored_version_alone(definition: &mut Value) {
    if let Some(spec) = definition["spec"].as_object_mut() {
        spec.remove("conversion");
    }
    if let Some(versions) = definition["spec"]["versions"].as_array_mut() {
        versions.retain(|version| version["storage"] == true);
    }
}

/// The objects for a cluster that cannot call the operator: without configurations, and of
/// converted kinds the stored version alone.
pub fn without_webhooks(objects: Vec<Value>) -> Vec<Value> {
    let kept = objects.into_iter().filter_map(|mut object| {
        if !is_converted(&object) {
            return (!calls_webhooks(&object)).then_some(object);
        }
        stored_version_alone(&mut object);
        Some(object)
    });
    kept.collect()
}

/// The description of the same operator when nobody calls it.
pub(crate) fn uncalled(description: &Description) -> Description {
    let mut uncalled = description.clone();
    for definition in &mut uncalled.custom_resources {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        if description.conversion_of(name).is_some() {
            stored_version_alone(definition);
        }
    }
    uncalled.webhooks.clear();
    uncalled.conversions.clear();
    uncalled.authorizes = false;
    uncalled
}

#[cfg(test)]
mod tests {
    use kubewright_core::{ConversionDescription, Description, Kind, Resource, Scope};
    use serde_json::{Value, json};

    use super::{calls_webhooks, without_webhooks};
    use crate::{ManifestOptions, WebhookCertificates, WebhookUse, deployment, objects};

    #[test]
    fn a_cluster_that_cannot_call_gets_the_stored_version_of_a_converted_kind() {
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
    fn switched_off_webhooks_leave_nothing_behind() {
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
            let name = |one: &Value| one["metadata"]["name"] == "sets-webhook";
            objects
                .iter()
                .any(|one| one["kind"] == "Service" && name(one))
        };
        let wired = printed(WebhookUse::Wired);
        assert!(wired.iter().any(calls_webhooks) && has_service(&wired));
        let off = printed(WebhookUse::Off);
        assert!(!off.iter().any(calls_webhooks) && !has_service(&off));
        let definition = off
            .iter()
            .find(|one| one["kind"] == "CustomResourceDefinition");
        let versions = definition.unwrap()["spec"]["versions"].as_array().unwrap();
        let names: Vec<_> = versions.iter().map(|version| &version["name"]).collect();
        assert_eq!(names, ["v1"]);
        let running = off.iter().find(|one| one["kind"] == "Deployment").unwrap();
        let container = &running["spec"]["template"]["spec"]["containers"][0];
        let arguments = container["args"].as_array().unwrap();
        assert!(arguments.contains(&json!("--no-webhooks")), "{arguments:?}");
        assert!(!arguments.contains(&json!("--managed-certificates")));
    }
}
