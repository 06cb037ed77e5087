use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{FailurePolicy, Reinvocation, WebhookKind};
use serde_json::Value;

use crate::admission::matching::Criteria;
use crate::server::Server;
use crate::store::Object;

const DEFAULT_TIMEOUT: u64 = 10;
const DEFAULT_PORT: u64 = 443;

/// One webhook of a stored configuration, with the defaults that Kubernetes gives it.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    /// Tells it from all others: configuration and place.
    pub(super) id: (String, usize),
    pub(super) name: String,
    pub(super) criteria: Criteria,
    pub(super) failure_policy: FailurePolicy,
    /// Expressions that must all hold.
    pub(super) conditions: Vec<String>,
    /// Absent in configurations of old; then a dry run is refused.
    pub(super) has_no_side_effects: bool,
    pub(super) reinvocation: Reinvocation,
    pub(super) timeout: Duration,
    pub(super) review_versions: Vec<String>,
    pub(super) client: ClientConfig,
}

/// How a webhook is reached.
#[derive(Clone, Debug)]
pub(crate) struct ClientConfig {
    pub(super) target: WebhookTarget,
    /// Authorities in PEM, as base64.
    pub(super) ca_bundle: Option<String>,
}

/// Where a webhook is.
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

/// Whether there is any webhook of a kind.
pub(crate) fn is_used(server: &Server, kind: WebhookKind) -> bool {
    let snapshot = server.store().snapshot();
    snapshot.list(resource(kind), None).next().is_some()
}

fn resource(kind: WebhookKind) -> &'static str {
    match kind {
        WebhookKind::Mutating => "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        WebhookKind::Validating => "validatingwebhookconfigurations.admissionregistration.k8s.io",
    }
}

/// The webhooks of each configuration of a kind, in the order in which they are asked: by the name
/// of the configuration, then as listed.
pub(super) fn hooks(server: &Server, kind: WebhookKind) -> Vec<Arc<Vec<Hook>>> {
    let snapshot = server.store().snapshot();
    let configurations = snapshot.list(resource(kind), None);
    let read = |object: &Arc<Object>| server.hooks().get(object, listed);
    configurations.map(read).collect()
}

fn listed(configuration: &Object) -> Vec<Hook> {
    let listed = configuration.value()["webhooks"].as_array();
    let places = listed.into_iter().flatten().enumerate();
    let name = configuration.name();
    places
        .map(|(place, value)| Hook::read(value, (name.to_owned(), place)))
        .collect()
}

impl Hook {
    /// How messages name it.
    pub(super) fn asker(&self) -> String {
        format!("admission webhook {:?}", self.name)
    }

    fn read(value: &Value, id: (String, usize)) -> Self {
        let list = |field: &str| value[field].as_array().cloned().unwrap_or_default();
        Self {
            id,
            name: text(&value["name"]),
            criteria: Criteria {
                rules: Some(list("rules")),
                ..Criteria::selecting(value)
            },
            failure_policy: match value["failurePolicy"].as_str() {
                Some("Ignore") => FailurePolicy::Ignore,
                _ => FailurePolicy::Fail,
            },
            conditions: list("matchConditions")
                .iter()
                .map(|condition| text(&condition["expression"]))
                .collect(),
            has_no_side_effects: matches!(
                value["sideEffects"].as_str(),
                Some("None" | "NoneOnDryRun")
            ),
            reinvocation: match value["reinvocationPolicy"].as_str() {
                Some("IfNeeded") => Reinvocation::IfNeeded,
                _ => Reinvocation::Never,
            },
            timeout: Duration::from_secs(
                value["timeoutSeconds"].as_u64().unwrap_or(DEFAULT_TIMEOUT),
            ),
            review_versions: list("admissionReviewVersions").iter().map(text).collect(),
            client: ClientConfig::read(&value["clientConfig"]),
        }
    }
}

impl ClientConfig {
    pub(crate) fn read(value: &Value) -> Self {
        let service = &value["service"];
        let target = match value["url"].as_str() {
            Some(url) => WebhookTarget::Url(url.to_owned()),
            None => WebhookTarget::Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                path: text(&service["path"]),
                port: service["port"].as_u64().unwrap_or(DEFAULT_PORT),
            },
        };
        Self {
            target,
            ca_bundle: value["caBundle"].as_str().map(str::to_owned),
        }
    }

    /// The address as messages show it, without the time limit.
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

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
