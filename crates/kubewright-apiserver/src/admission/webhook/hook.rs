//! The webhooks of stored configurations.

use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{FailurePolicy, Reinvocation, WebhookKind};
use serde_json::Value;

use crate::admission::matching::Criteria;
use crate::store::{Object, Snapshot};
use crate::webhook_client::ClientConfig;

const DEFAULT_TIMEOUT: u64 = 10;

/// One webhook of a stored configuration.
#[derive(Clone, Debug)]
pub(super) struct Hook {
    /// The configuration and the index in it.
    pub(super) id: (String, usize),
    pub(super) kind: WebhookKind,
    pub(super) name: String,
    pub(super) criteria: Criteria,
    pub(super) failure_policy: FailurePolicy,
    /// CEL expressions that must all be true.
    pub(super) conditions: Vec<String>,
    /// Without it, a dry run is an error.
    pub(super) has_no_side_effects: bool,
    pub(super) reinvocation: Reinvocation,
    pub(super) timeout: Duration,
    pub(super) review_versions: Vec<String>,
    pub(super) client: ClientConfig,
}

/// The configurations of a kind.
pub(super) fn configurations(
    snapshot: &Snapshot,
    kind: WebhookKind,
) -> impl Iterator<Item = &Arc<Object>> {
    let resource = match kind {
        WebhookKind::Mutating => "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        WebhookKind::Validating => "validatingwebhookconfigurations.admissionregistration.k8s.io",
    };
    snapshot.list(resource, None)
}

/// The webhooks of a configuration, as listed.
pub(super) fn hooks_of(kind: WebhookKind, configuration: &Object) -> Vec<Hook> {
    let listed = configuration.value()["webhooks"].as_array();
    let name = configuration.name();
    listed
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, value)| Hook::read(kind, value, (name.to_owned(), index)))
        .collect()
}

impl Hook {
    /// Its name in messages.
    pub(super) fn display_name(&self) -> String {
        format!("admission webhook {:?}", self.name)
    }

    fn read(kind: WebhookKind, value: &Value, id: (String, usize)) -> Self {
        let list = |field: &str| value[field].as_array().cloned().unwrap_or_default();
        Self {
            id,
            kind,
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

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
