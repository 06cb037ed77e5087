//! Policies of an operator, and their fallback webhooks.

use kubewright_core::PolicyEffect;

use super::builder::Operator;
use crate::Error;
use crate::policy::Policy;

impl Operator {
    /// Adds a policy: a rule that the API server evaluates itself. It is part of the manifests and
    /// needs no request to the operator.
    #[must_use]
    pub fn policy<E: Into<PolicyEffect>>(mut self, policy: Policy<E>) -> Self {
        self.policies.push(policy.complete());
        self
    }

    /// Returns the operator for a cluster that serves no policies: their fallback webhooks replace
    /// them. A policy without a fallback is an error.
    ///
    /// ```
    /// use kubewright::Policy;
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings};
    ///
    /// fn check(change: &Change<Pod>, findings: &mut Findings) {
    ///     if change.object().is_some_and(|pod| pod.labels().is_empty()) {
    ///         findings.required("metadata.labels", "label the Pod");
    ///     }
    /// }
    ///
    /// let operator = Operator::new("guard").policy(
    ///     Policy::validates::<Pod>("labelled")
    ///         .rule("has(object.metadata.labels)", "label the Pod")
    ///         .fallback(Webhook::validates(check)),
    /// );
    /// assert!(!operator.description().serves());
    /// let fallback = operator.without_policies()?;
    /// assert_eq!(fallback.description().webhooks[0].path, "/validate--v1-pod/labelled");
    /// # Ok::<(), kubewright::Error>(())
    /// ```
    pub fn without_policies(mut self) -> Result<Self, Error> {
        for policy in std::mem::take(&mut self.policies) {
            self.webhooks.webhooks.push(policy.into_webhook()?);
        }
        self.uses_fallbacks = true;
        Ok(self)
    }
}
