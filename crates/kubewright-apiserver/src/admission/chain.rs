//! The admission chain: which plugins see a request, and in which order.

use kubewright_core::WebhookKind;
use kubewright_wire::status::Status;

use super::attributes::AdmissionAttributes;
use super::context::AdmissionContext;
use super::plugin::{AdmissionPlugin, AdmissionPlugins};
use super::plugins::{PLUGINS, resource_quota};
use super::policy::Policies;
use super::round::Round;
use super::webhook::Webhooks;
use crate::warnings::Warnings;

/// The plugins that mutate and validate objects on their way to the store.
///
/// The order is that of Kubernetes: built-in plugins mutate, then policies, then webhooks; after a
/// change all of them see the object once more. Then built-in plugins validate, then policies,
/// then webhooks, and at last the quota, which counts what it admits.
#[derive(Debug)]
pub(crate) struct AdmissionChain {
    context: AdmissionContext,
    enabled: AdmissionPlugins,
    policies: Policies,
    webhooks: Webhooks,
}

impl AdmissionChain {
    pub(crate) fn new(context: AdmissionContext, enabled: AdmissionPlugins) -> Self {
        Self {
            context,
            enabled,
            policies: Policies::default(),
            webhooks: Webhooks::default(),
        }
    }

    pub(crate) fn plugins(&self) -> &AdmissionPlugins {
        &self.enabled
    }

    /// Whether a policy can evaluate expressions for a write.
    pub(crate) fn evaluates_expressions(&self) -> bool {
        [WebhookKind::Mutating, WebhookKind::Validating]
            .into_iter()
            .any(|kind| self.has_policies(kind))
    }

    /// Lets the plugins change the object of a request.
    ///
    /// When a policy or webhook has changed it, the built-in plugins see it again, and so do the
    /// policies and webhooks with a reinvocation policy
    /// (k8s.io/apiserver/pkg/admission/reinvocation.go).
    pub(crate) async fn mutate(
        &self,
        attributes: &mut AdmissionAttributes,
        warnings: &Warnings,
    ) -> Result<(), Status> {
        self.mutate_builtin(attributes)?;
        let kind = WebhookKind::Mutating;
        if !self.has_policies(kind) && !self.has_webhooks(kind) {
            return Ok(());
        }
        let mut policies = self.policies.mutating(&self.context, &self.enabled);
        let mut webhooks = self.webhooks.mutating(&self.context, &self.enabled);
        for round in [Round::First, Round::Second] {
            let by_policies = policies.run(&self.context, attributes, round).await?;
            let by_webhooks = webhooks
                .run(&self.context, attributes, warnings, round)
                .await?;
            if !by_policies && !by_webhooks {
                return Ok(());
            }
            if round == Round::First {
                self.mutate_builtin(attributes)?;
            }
        }
        Ok(())
    }

    fn mutate_builtin(&self, attributes: &mut AdmissionAttributes) -> Result<(), Status> {
        for plugin in PLUGINS {
            if let Some(mutate) = plugin.mutate
                && self.enabled.is_enabled(plugin.name)
            {
                mutate(&self.context, attributes)?;
            }
        }
        Ok(())
    }

    /// Lets the plugins deny a request, with the object as it would be stored.
    pub(crate) async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        warnings: &Warnings,
    ) -> Result<(), Status> {
        for plugin in PLUGINS {
            if let Some(validate) = plugin.validate
                && self.enabled.is_enabled(plugin.name)
            {
                validate(&self.context, attributes)?;
            }
        }
        let kind = WebhookKind::Validating;
        if self.has_policies(kind) {
            self.policies
                .validate(&self.context, attributes, warnings)
                .await?;
        }
        if self.has_webhooks(kind) {
            self.webhooks
                .validate(&self.context, attributes, warnings)
                .await?;
        }
        if self.enabled.is_enabled(AdmissionPlugin::ResourceQuota) && attributes.is_write() {
            resource_quota::charge(&self.context, attributes)?;
        }
        Ok(())
    }

    fn has_policies(&self, kind: WebhookKind) -> bool {
        let plugin = match kind {
            WebhookKind::Mutating => AdmissionPlugin::MutatingAdmissionPolicy,
            WebhookKind::Validating => AdmissionPlugin::ValidatingAdmissionPolicy,
        };
        self.enabled.is_enabled(plugin) && Policies::exist(&self.context, kind)
    }

    fn has_webhooks(&self, kind: WebhookKind) -> bool {
        let plugin = match kind {
            WebhookKind::Mutating => AdmissionPlugin::MutatingAdmissionWebhook,
            WebhookKind::Validating => AdmissionPlugin::ValidatingAdmissionWebhook,
        };
        self.enabled.is_enabled(plugin) && Webhooks::exist(&self.context, kind)
    }
}
