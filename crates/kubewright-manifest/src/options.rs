//! Options of an operator's manifests.

use kubewright_core::Description;

use crate::certificates::WebhookCertificates;
use crate::components::Component;

/// Options of an operator's manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// The namespace that the operator runs in; by default `NAME-system`.
    pub namespace: Option<String>,
    /// Whether the API server calls the operator's webhooks.
    pub webhooks: WebhookUse,
    /// The URL of the webhooks instead of their Service, such as `https://127.0.0.1:9443`.
    pub webhook_url: Option<String>,
    /// The authority (PEM) that signed the webhooks' certificate.
    pub webhook_ca: Option<String>,
    /// Where the webhooks' certificate comes from.
    pub certificates: WebhookCertificates,
    /// Optional objects beside the Deployment.
    pub components: Vec<Component>,
}

/// Whether the API server calls an operator's webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebhookUse {
    /// It calls all webhooks of the description.
    #[default]
    On,
    /// It calls none: there is no Service or configuration, and of converted kinds only the storage
    /// version is served. Otherwise webhooks that fail closed would block every write.
    Off,
}

/// The namespace that the operator runs in.
pub(crate) fn namespace_of(description: &Description, options: &ManifestOptions) -> String {
    match &options.namespace {
        Some(namespace) => namespace.clone(),
        None => format!("{}-system", description.name),
    }
}
