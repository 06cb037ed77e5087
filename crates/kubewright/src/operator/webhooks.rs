use serde_json::Value;

use super::Operator;
use crate::webhook::Questions;

impl Operator {
    /// The operator without its webhooks, conversions and authorizer, for a cluster that cannot
    /// call it, or a test of the rest: nobody is asked about anything, and of kinds that it converts
    /// only the stored version is there. `manifests --no-webhooks` and `run --no-webhooks` are the
    /// same on the command line.
    ///
    /// Policies stay: the API server follows them by itself.
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
        let converted = self.conversions().describe();
        let names = converted.iter().map(|one| one.hub.qualified_name());
        self.unconverted.extend(names);
        let all = self.description().custom_resources;
        self.questions = Questions::default();
        // A kind that is only converted here is defined nowhere else.
        let rest = self.description().custom_resources;
        let is_lost = |one: &Value| !rest.iter().any(|kept| named(kept) == named(one));
        self.definitions.extend(all.into_iter().filter(is_lost));
        self
    }
}

fn named(definition: &Value) -> &Value {
    &definition["metadata"]["name"]
}
