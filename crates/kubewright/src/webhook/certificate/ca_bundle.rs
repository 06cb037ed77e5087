//! The CA bundles of the objects that refer to the operator's webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};
use kube::Client;
use kubewright_core::{Description, WebhookKind};
use serde_json::{Value, json};

use super::request::{has_code, send};

/// An object that refers to the operator's webhooks and contains the CA bundle for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CaBundle {
    path: String,
    object: ObjectKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectKind {
    /// A webhook configuration, with a bundle for each webhook.
    Configuration,
    /// A custom resource definition, with a bundle for the conversion.
    Definition,
}

/// Returns the objects of an operator that contain a CA bundle.
pub(super) fn ca_bundles(description: &Description) -> Vec<CaBundle> {
    let mut bundles = Vec::new();
    for (kind, plural) in [
        (WebhookKind::Mutating, "mutatingwebhookconfigurations"),
        (WebhookKind::Validating, "validatingwebhookconfigurations"),
    ] {
        if description
            .webhooks
            .iter()
            .any(|webhook| webhook.kind == kind)
        {
            let name = &description.name;
            bundles.push(CaBundle {
                path: format!("/apis/admissionregistration.k8s.io/v1/{plural}/{name}"),
                object: ObjectKind::Configuration,
            });
        }
    }
    for conversion in &description.conversions {
        let name = conversion.hub.qualified_name();
        bundles.push(CaBundle {
            path: format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"),
            object: ObjectKind::Definition,
        });
    }
    bundles
}

impl CaBundle {
    /// Sets the authorities (PEM) that the API server trusts. Does nothing if the object does not
    /// exist.
    pub(super) async fn write(&self, client: &Client, pem: &str) -> Result<(), kube::Error> {
        let object = match send(client, Method::GET, &self.path, None).await {
            Err(error) if has_code(&error, StatusCode::NOT_FOUND) => return Ok(()),
            result => result?,
        };
        let changes = self.changes(&object, &STANDARD.encode(pem));
        if changes.is_empty() {
            return Ok(());
        }
        // Another client may change the object meanwhile: list indexes hold for this version alone.
        let revision = &object["metadata"]["resourceVersion"];
        let mut operations = vec![json!(
            {"op": "test", "path": "/metadata/resourceVersion", "value": revision}
        )];
        operations.extend(changes);
        let patch = Value::Array(operations);
        send(client, Method::PATCH, &self.path, Some(&patch)).await?;
        tracing::info!(object = self.path, "wrote the CA bundle of the webhooks");
        Ok(())
    }

    fn changes(&self, object: &Value, bundle: &str) -> Vec<Value> {
        let clients: Vec<String> = match self.object {
            ObjectKind::Definition if object["spec"]["conversion"]["strategy"] == "Webhook" => {
                vec!["/spec/conversion/webhook/clientConfig".to_owned()]
            }
            ObjectKind::Definition => Vec::new(),
            ObjectKind::Configuration => {
                let webhooks = object["webhooks"].as_array().map_or(0, Vec::len);
                let client = |index| format!("/webhooks/{index}/clientConfig");
                (0..webhooks).map(client).collect()
            }
        };
        let differs = |pointer: &String| {
            let client = object.pointer(pointer);
            client.is_some_and(|client| client["caBundle"] != bundle)
        };
        let set = |pointer: String| {
            let path = format!("{pointer}/caBundle");
            json!({"op": "add", "path": path, "value": bundle})
        };
        clients.into_iter().filter(differs).map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CaBundle, ObjectKind};

    #[test]
    fn only_webhooks_with_another_bundle_are_changed() {
        let bundle = CaBundle {
            path: String::new(),
            object: ObjectKind::Configuration,
        };
        let object = json!({"webhooks": [
            {"clientConfig": {"caBundle": "new"}}, {"clientConfig": {"caBundle": "old"}},
            {"clientConfig": {}},
        ]});
        assert_eq!(
            bundle.changes(&object, "new"),
            [
                json!({"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": "new"}),
                json!({"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": "new"}),
            ]
        );
    }

    #[test]
    fn definition_without_conversion_is_not_changed() {
        let bundle = CaBundle {
            path: String::new(),
            object: ObjectKind::Definition,
        };
        let object = json!({"spec": {"conversion": {"strategy": "None"}}});
        assert!(bundle.changes(&object, "new").is_empty());
    }
}
