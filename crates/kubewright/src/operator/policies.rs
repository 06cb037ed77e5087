use std::collections::BTreeSet;

use kubewright_core::PolicyEffect;

use super::Operator;
use super::definition::{LONGEST_LABEL, check_name};
use crate::{Error, Policy};

impl Operator {
    /// Adds a policy: a rule that the API server follows by itself. It is part of the manifests, and
    /// nobody has to answer for it.
    #[must_use]
    pub fn policy<E: Into<PolicyEffect>>(mut self, policy: Policy<E>) -> Self {
        self.policies.push(policy.with());
        self
    }

    /// The operator for a cluster that serves no policies: the webhooks that stand in for them are
    /// asked instead. One that has none is an error.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::Policy;
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
    ///         .stand_in(Webhook::validates(check)),
    /// );
    /// assert!(!operator.description().serves());
    /// let older = operator.without_policies()?;
    /// assert_eq!(older.description().webhooks[0].path, "/validate--v1-pod/labelled");
    /// # Ok::<(), kubewright::Error>(())
    /// ```
    pub fn without_policies(mut self) -> Result<Self, Error> {
        for policy in std::mem::take(&mut self.policies) {
            self.questions.webhooks.push(policy.into_webhook()?);
        }
        self.stands_in = true;
        Ok(self)
    }

    /// Refuses policies that the API server would not take.
    pub(super) fn check_policies(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for policy in &self.policies {
            check_name("a policy", policy.name(), LONGEST_LABEL)?;
            policy.check()?;
            if !names.insert(policy.name()) {
                return Err(Error::DuplicatePolicy {
                    name: policy.name().to_owned(),
                });
            }
        }
        Ok(())
    }
}
