//! The address of a webhook: the `clientConfig` of configurations.

use kubewright_kinds::json::text;
use serde_json::Value;

const DEFAULT_PORT: u64 = 443;

/// A `clientConfig`.
#[derive(Clone, Debug)]
pub(crate) struct ClientConfig {
    pub(super) target: WebhookTarget,
    /// Certificate authorities in PEM, as base64.
    pub(super) ca_bundle: Option<String>,
}

/// The address of a webhook.
#[derive(Clone, Debug)]
pub(super) enum WebhookTarget {
    Url(String),
    Service {
        namespace: String,
        name: String,
        path: String,
        port: u64,
    },
}

impl ClientConfig {
    pub(crate) fn read(value: &Value) -> Self {
        let service = &value["service"];
        let target = match value["url"].as_str() {
            Some(url) => WebhookTarget::Url(url.to_owned()),
            None => WebhookTarget::Service {
                namespace: text(&service["namespace"]).to_owned(),
                name: text(&service["name"]).to_owned(),
                path: text(&service["path"]).to_owned(),
                port: service["port"].as_u64().unwrap_or(DEFAULT_PORT),
            },
        };
        Self {
            target,
            ca_bundle: value["caBundle"].as_str().map(str::to_owned),
        }
    }

    /// The URL, without the timeout parameter.
    pub(crate) fn url(&self) -> String {
        match &self.target {
            WebhookTarget::Url(url) => url.clone(),
            WebhookTarget::Service {
                namespace,
                name,
                path,
                port,
            } => format!(
                "https://{name}.{namespace}.svc:{port}/{}",
                path.trim_start_matches('/')
            ),
        }
    }
}
