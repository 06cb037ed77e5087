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

    /// Whether policies or the conditions of webhooks can evaluate expressions for a write.
    pub(crate) fn evaluates_expressions(&self) -> bool {
        let has_conditions =
            |kind| self.calls_webhooks(kind) && Webhooks::have_conditions(&self.context, kind);
        [WebhookKind::Mutating, WebhookKind::Validating]
            .into_iter()
            .any(|kind| self.has_policies(kind) || has_conditions(kind))
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
        self.calls_webhooks(kind) && Webhooks::exist(&self.context, kind)
    }

    /// Whether the plugin for webhooks of a kind is enabled.
    fn calls_webhooks(&self, kind: WebhookKind) -> bool {
        self.enabled.is_enabled(match kind {
            WebhookKind::Mutating => AdmissionPlugin::MutatingAdmissionWebhook,
            WebhookKind::Validating => AdmissionPlugin::ValidatingAdmissionWebhook,
        })
    }
}

#[cfg(test)]
mod tests {
    use kubewright_kinds::admissionregistration::VALIDATING_WEBHOOK_CONFIGURATION;
    use serde_json::{Value, json};

    use crate::store::{Expected, Key};
    use crate::{Server, ServerOptions};

    /// Whether requests evaluate expressions when a configuration has a webhook with these
    /// conditions.
    fn evaluates_with(conditions: &Value) -> bool {
        let server = Server::new(ServerOptions::default());
        let key = Key::new(VALIDATING_WEBHOOK_CONFIGURATION.resource_id(), None, "a");
        let configuration = json!({
            "metadata": {"name": "a"},
            "webhooks": [{"name": "a.b.io"}, {"name": "c.d.io", "matchConditions": conditions}],
        });
        let stored = server.store().put(key, Expected::Absent, configuration);
        assert!(stored.is_ok());
        server.api().admission.evaluates_expressions()
    }

    #[test]
    fn conditions_of_webhooks_are_expressions() {
        assert!(!evaluates_with(&Value::Null));
        assert!(!evaluates_with(&json!([])));
        assert!(evaluates_with(
            &json!([{"name": "never", "expression": "false"}])
        ));
    }
}
