//! The description of a webhook, and the checks of its registration.

use std::time::Duration;

use kubewright_core::{
    Exemption, FailurePolicy, LabelSelector, Operation, WebhookDescription, WebhookKind,
};

use super::builder::Webhook;
use super::match_conditions::{check_conditions, match_conditions};
use super::reach::{Reach, default_exemption};
use crate::Error;

const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);

impl Webhook {
    /// Returns the path, by default derived from the kind, the subresource and the policy.
    pub(super) fn effective_path(&self) -> String {
        if let Some(path) = &self.path {
            return path.clone();
        }
        let default = WebhookDescription::default_path(self.kind, &self.resource.kind);
        [self.subresource.as_deref(), self.policy.as_deref()]
            .into_iter()
            .flatten()
            .fold(default, |path, name| format!("{path}/{name}"))
    }

    fn effective_failure_policy(&self) -> FailurePolicy {
        self.failure_policy.unwrap_or(FailurePolicy::Fail)
    }

    fn effective_exemption(&self) -> Exemption {
        self.exemption
            .unwrap_or_else(|| default_exemption(&self.resource.kind))
    }

    pub(crate) fn describe(&self, operator: &str) -> WebhookDescription {
        let operations = if self.operations.is_empty() {
            vec![Operation::Create, Operation::Update]
        } else {
            self.operations.clone()
        };
        WebhookDescription {
            name: self.name(operator),
            kind: self.kind,
            path: self.effective_path(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            failure_policy: self.effective_failure_policy(),
            timeout: self.timeout,
            side_effects: self.side_effects,
            reinvocation: self.reinvocation,
            objects: self.objects.parse().unwrap_or_default(),
            namespaces: self.namespaces.parse().unwrap_or_default(),
            exemption: self.effective_exemption(),
            conditions: match_conditions(&operations, &self.conditions),
            operations,
            reads: self
                .reads
                .iter()
                .map(|kind| kind.resource.clone())
                .collect(),
        }
    }

    /// Returns the name in the webhook configuration, which is unique within it.
    fn name(&self, operator: &str) -> String {
        let kind = &self.resource.kind;
        let prefix = match self.kind {
            WebhookKind::Mutating => 'm',
            WebhookKind::Validating => 'v',
        };
        let group = match kind.group() {
            "" => "core",
            group => group,
        };
        let lower = kind.kind.to_lowercase();
        let name = format!("{prefix}{lower}-{}.{operator}.{group}", kind.version());
        [self.subresource.as_deref(), self.policy.as_deref()]
            .into_iter()
            .flatten()
            .fold(name, |name, qualifier| format!("{qualifier}.{name}"))
    }

    /// Returns an error if the webhook cannot be registered.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let path = self.effective_path();
        for text in [&self.objects, &self.namespaces] {
            text.parse::<LabelSelector>()
                .and_then(|selector| selector.to_object())
                .map_err(|source| Error::WebhookSelector {
                    path: path.clone(),
                    text: text.clone(),
                    source,
                })?;
        }
        for kind in &self.reads {
            kind.check(&path)?;
        }
        let is_path = path.starts_with('/')
            && path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c));
        if !is_path {
            return Err(Error::WebhookPath { path });
        }
        if let Err(why) = check_conditions(&self.conditions) {
            return Err(Error::WebhookCondition { path, why });
        }
        let reach = Reach {
            kind: &self.resource.kind,
            exemption: self.effective_exemption(),
            objects: &self.objects,
            namespaces: &self.namespaces,
            failure_policy: self.effective_failure_policy(),
        };
        if reach.could_stop_the_cluster() {
            return Err(Error::WebhookTooBroad { path });
        }
        if self.timeout.as_secs() == 0 || self.timeout > LONGEST_TIMEOUT {
            return Err(Error::WebhookTimeout {
                path,
                timeout: self.timeout,
            });
        }
        Ok(())
    }
}
