//! The webhooks of stored configurations.

use std::sync::Arc;
use std::time::Duration;

use kubewright_cel::webhook_environment;
use kubewright_core::{FailurePolicy, Reinvocation, WebhookKind};
use kubewright_kinds::admissionregistration::{
    MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION,
};
use kubewright_kinds::json::{items, text};
use serde_json::Value;

use crate::admission::matching::{Conditions, Criteria, condition_texts};
use crate::store::{Object, Snapshot};
use crate::webhook_client::ClientConfig;

const DEFAULT_TIMEOUT_SECONDS: u64 = 10;

/// One webhook of a stored configuration.
#[derive(Debug)]
pub(super) struct Hook {
    /// The configuration and the index in it.
    pub(super) id: (String, usize),
    pub(super) kind: WebhookKind,
    pub(super) name: String,
    pub(super) criteria: Criteria,
    pub(super) failure_policy: FailurePolicy,
    pub(super) conditions: Conditions,
    /// Whether it can be called in a dry run.
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
    let configuration = match kind {
        WebhookKind::Mutating => &MUTATING_WEBHOOK_CONFIGURATION,
        WebhookKind::Validating => &VALIDATING_WEBHOOK_CONFIGURATION,
    };
    snapshot.list(configuration.resource_id(), None)
}

/// The webhooks of a configuration, as listed.
pub(super) fn hooks_of(kind: WebhookKind, configuration: &Object) -> Vec<Hook> {
    let name = configuration.name();
    items(&configuration.value()["webhooks"])
        .enumerate()
        .map(|(index, value)| Hook::read(kind, value, (name.to_owned(), index)))
        .collect()
}

/// Whether any webhook of a configuration has conditions. Compiles none of them.
pub(super) fn has_conditions(configuration: &Object) -> bool {
    items(&configuration.value()["webhooks"]).any(|hook| condition_texts(hook).next().is_some())
}

impl Hook {
    /// The name in error messages.
    pub(super) fn display_name(&self) -> String {
        format!("admission webhook {:?}", self.name)
    }

    fn read(kind: WebhookKind, value: &Value, id: (String, usize)) -> Self {
        Self {
            id,
            kind,
            name: text(&value["name"]).to_owned(),
            criteria: Criteria {
                rules: Some(items(&value["rules"]).cloned().collect()),
                ..Criteria::selectors(value)
            },
            failure_policy: match value["failurePolicy"].as_str() {
                Some("Ignore") => FailurePolicy::Ignore,
                _ => FailurePolicy::Fail,
            },
            conditions: Conditions::compile(condition_texts(value), webhook_environment()),
            has_no_side_effects: matches!(
                value["sideEffects"].as_str(),
                Some("None" | "NoneOnDryRun")
            ),
            reinvocation: match value["reinvocationPolicy"].as_str() {
                Some("IfNeeded") => Reinvocation::IfNeeded,
                _ => Reinvocation::Never,
            },
            timeout: Duration::from_secs(
                value["timeoutSeconds"]
                    .as_u64()
                    .unwrap_or(DEFAULT_TIMEOUT_SECONDS),
            ),
            review_versions: items(&value["admissionReviewVersions"])
                .map(|version| text(version).to_owned())
                .collect(),
            client: ClientConfig::read(&value["clientConfig"]),
        }
    }
}
