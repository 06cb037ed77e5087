//! An operator without its webhooks.

use serde_json::Value;

use super::builder::Operator;
use crate::webhook::WebhookRegistrations;

impl Operator {
    /// Returns the operator without its webhooks, conversions and authorizer, for a cluster that
    /// cannot connect to it, or for a test of the rest. Converted kinds have only their stored
    /// version. `manifests --no-webhooks` and `run --no-webhooks` are the same on the command line.
    ///
    /// Policies stay: the API server evaluates them itself.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings};
    ///
    /// let operator = Operator::new("tidy")
    ///     .webhook(Webhook::validates(|_: &Change<ConfigMap>, _: &mut Findings| {}));
    /// assert!(operator.description().serves());
    /// assert!(!operator.without_webhooks().description().serves());
    /// ```
    #[must_use]
    pub fn without_webhooks(mut self) -> Self {
        let conversions = self.conversions().describe();
        let names = conversions
            .iter()
            .map(|conversion| conversion.hub.qualified_name());
        self.unconverted.extend(names);
        let before = self.description().custom_resources;
        self.webhooks = WebhookRegistrations::default();
        // The definition of a kind that has only a conversion here would be lost.
        let after = self.description().custom_resources;
        let is_lost = |definition: &Value| {
            !after
                .iter()
                .any(|kept| name_of(kept) == name_of(definition))
        };
        self.definitions.extend(before.into_iter().filter(is_lost));
        self
    }
}

fn name_of(definition: &Value) -> &Value {
    &definition["metadata"]["name"]
}
