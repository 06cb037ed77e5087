//! The description of a policy, and its fallback webhook.

use kubewright_core::{Operation, PolicyAction, PolicyDescription, PolicyEffect};

use super::builder::Policy;
use crate::Error;
use crate::webhook::{Webhook, match_conditions};

impl Policy<PolicyEffect> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the fallback webhook.
    pub(crate) fn webhook(&self) -> Option<&Webhook> {
        self.fallback.as_ref()
    }

    /// Returns the fallback webhook, or an error if there is none.
    pub(crate) fn into_webhook(self) -> Result<Webhook, Error> {
        let policy = self.name;
        self.fallback.ok_or(Error::NoFallback { policy })
    }

    pub(crate) fn describe(&self, operator: &str) -> PolicyDescription {
        let mut effect = self.effect.clone();
        if let PolicyEffect::Validating { actions, .. } = &mut effect
            && actions.is_empty()
        {
            actions.push(PolicyAction::Deny);
        }
        PolicyDescription {
            // Names of operators contain no dot, so policies of two operators have different names.
            name: format!("{operator}.{}", self.name),
            effect,
            resource: self.resource.clone(),
            operations: if self.operations.is_empty() {
                vec![Operation::Create, Operation::Update]
            } else {
                self.operations.clone()
            },
            failure_policy: self.failure_policy,
            objects: self.objects.parse().unwrap_or_default(),
            namespaces: self.namespaces.parse().unwrap_or_default(),
            exemption: self.exemption,
            conditions: match_conditions(&self.operations, &self.conditions),
            variables: self.variables.clone(),
            parameter: self.parameter.clone(),
            fallback: self
                .fallback
                .as_ref()
                .map(|webhook| webhook.describe(operator)),
        }
    }
}
