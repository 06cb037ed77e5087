//! The webhook configurations of a case.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::WebhookStub;

/// A webhook of a [`Case`](super::Case). By default it is called for ConfigMaps in the namespace of
/// the case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseWebhook {
    /// `Mutating` or `Validating`.
    #[serde(default = "validating")]
    pub kind: String,
    /// The path of its response in the stub.
    pub path: String,
    /// Fields of the webhook in its configuration, which override the defaults.
    #[serde(default)]
    pub with: Map<String, Value>,
}

fn validating() -> String {
    "Validating".to_owned()
}

/// A configuration with the case's webhooks of one kind.
pub(super) struct Configuration {
    pub(super) path: String,
    pub(super) object: Value,
    /// A ConfigMap that is denied with 403 once the configuration has an effect.
    pub(super) probe: Value,
}

/// The configurations of a case.
pub(super) fn configurations(
    webhooks: &[CaseWebhook],
    namespace: &str,
    stub: &WebhookStub,
) -> Vec<Configuration> {
    ["Mutating", "Validating"]
        .into_iter()
        .filter(|kind| webhooks.iter().any(|webhook| webhook.kind == *kind))
        .map(|kind| {
            let of_kind = webhooks.iter().filter(|webhook| webhook.kind == kind);
            let mut entries: Vec<Value> = of_kind
                .enumerate()
                .map(|(index, webhook)| {
                    entry(&format!("hook-{index}.case.dev"), webhook, namespace, stub)
                })
                .collect();
            let label = json!({"probe": kind});
            let probe = CaseWebhook {
                kind: kind.to_owned(),
                path: "/deny".to_owned(),
                with: Map::from_iter([(
                    "objectSelector".to_owned(),
                    json!({"matchLabels": label}),
                )]),
            };
            entries.insert(0, entry("probe.case.dev", &probe, namespace, stub));
            let plural = format!("{}webhookconfigurations", kind.to_lowercase());
            Configuration {
                path: format!("/apis/admissionregistration.k8s.io/v1/{plural}"),
                object: json!({"metadata": {"name": namespace}, "webhooks": entries}),
                probe: json!({"metadata": {"name": "probe", "labels": label}}),
            }
        })
        .collect()
}

fn entry(name: &str, webhook: &CaseWebhook, namespace: &str, stub: &WebhookStub) -> Value {
    let mut entry = json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "clientConfig": stub.client_config(&webhook.path),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
            "resources": ["configmaps"]}],
    });
    for (field, value) in &webhook.with {
        match field.as_str() {
            // Single fields of it are overridden.
            "clientConfig" => {
                for (field, value) in value.as_object().into_iter().flatten() {
                    entry["clientConfig"][field] = value.clone();
                }
                let client = &mut entry["clientConfig"];
                if let Some(members) = client.as_object_mut() {
                    members.retain(|_, value| !value.is_null());
                }
            }
            _ => entry[field] = value.clone(),
        }
    }
    // Only the probe webhook is called for probes.
    if name != "probe.case.dev" && entry["objectSelector"].is_null() {
        entry["objectSelector"] =
            json!({"matchExpressions": [{"key": "probe", "operator": "DoesNotExist"}]});
    }
    entry
}
