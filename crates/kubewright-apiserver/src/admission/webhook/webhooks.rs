//! The webhooks of the admission chain.

use std::sync::Arc;

use kubewright_core::WebhookKind;
use kubewright_wire::status::Status;

use super::hook::{Hook, configurations, has_conditions, hooks_of};
use super::mutate::MutatingWebhooks;
use super::validate::validate;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::plugin::{AdmissionPlugin, AdmissionPlugins};
use crate::store::ParsedCache;
use crate::warnings::Warnings;

/// The stored webhook configurations, each parsed once, with their conditions compiled.
#[derive(Debug, Default)]
pub(in crate::admission) struct Webhooks {
    parsed: ParsedCache<Vec<Hook>>,
}

impl Webhooks {
    /// Whether there is any configuration of a kind.
    pub(in crate::admission) fn exist(context: &AdmissionContext, kind: WebhookKind) -> bool {
        let snapshot = context.store.snapshot();
        configurations(&snapshot, kind).next().is_some()
    }

    /// Whether any webhook of a kind has conditions.
    pub(in crate::admission) fn have_conditions(
        context: &AdmissionContext,
        kind: WebhookKind,
    ) -> bool {
        let snapshot = context.store.snapshot();
        configurations(&snapshot, kind).any(|configuration| has_conditions(configuration))
    }

    /// The mutating webhooks for one request.
    pub(in crate::admission) fn mutating(
        &self,
        context: &AdmissionContext,
        enabled: &AdmissionPlugins,
    ) -> MutatingWebhooks {
        let is_enabled = enabled.is_enabled(AdmissionPlugin::MutatingAdmissionWebhook);
        MutatingWebhooks::new(if is_enabled {
            self.hooks(context, WebhookKind::Mutating)
        } else {
            Vec::new()
        })
    }

    /// Calls the validating webhooks.
    pub(in crate::admission) async fn validate(
        &self,
        context: &AdmissionContext,
        attributes: &AdmissionAttributes,
        warnings: &Warnings,
    ) -> Result<(), Status> {
        let hooks = self.hooks(context, WebhookKind::Validating);
        validate(context, &hooks, attributes, warnings).await
    }

    /// The webhooks of each configuration, in the order in which they are called: by the name of
    /// the configuration, then as listed.
    fn hooks(&self, context: &AdmissionContext, kind: WebhookKind) -> Vec<Arc<Vec<Hook>>> {
        let snapshot = context.store.snapshot();
        configurations(&snapshot, kind)
            .map(|object| self.parsed.get(object, |object| hooks_of(kind, object)))
            .collect()
    }
}
