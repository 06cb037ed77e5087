//! The policies of the admission chain.

use kubewright_core::WebhookKind;
use kubewright_wire::status::Status;

use super::definition::{Policy, PolicyKinds, bound_policies};
use super::mutate::MutatingPolicies;
use super::validate::validate;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::plugin::{AdmissionPlugin, AdmissionPlugins};
use crate::store::ParsedCache;
use crate::warnings::Warnings;

/// The stored policies, each parsed and compiled once.
#[derive(Debug, Default)]
pub(in crate::admission) struct Policies {
    parsed: ParsedCache<Policy>,
}

impl Policies {
    /// Whether there is any binding of a kind.
    pub(in crate::admission) fn exist(context: &AdmissionContext, kind: WebhookKind) -> bool {
        let snapshot = context.store.snapshot();
        let binding = PolicyKinds::of(kind).binding;
        let mut bindings = snapshot.list(binding.resource_id(), None);
        bindings.next().is_some()
    }

    /// The mutating policies for one request.
    pub(in crate::admission) fn mutating(
        &self,
        context: &AdmissionContext,
        enabled: &AdmissionPlugins,
    ) -> MutatingPolicies {
        let is_enabled = enabled.is_enabled(AdmissionPlugin::MutatingAdmissionPolicy);
        MutatingPolicies::new(if is_enabled {
            bound_policies(context, &self.parsed, WebhookKind::Mutating)
        } else {
            Vec::new()
        })
    }

    /// Evaluates the validating policies.
    pub(in crate::admission) async fn validate(
        &self,
        context: &AdmissionContext,
        attributes: &AdmissionAttributes,
        warnings: &Warnings,
    ) -> Result<(), Status> {
        let policies = bound_policies(context, &self.parsed, WebhookKind::Validating);
        validate(context, &policies, attributes, warnings).await
    }
}
