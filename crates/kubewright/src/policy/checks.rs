//! Checks of a policy before it is registered, as the API server makes them, except for the
//! expressions themselves.

use kubewright_core::{
    LabelSelector, Operation, ParameterDescription, PolicyAction, PolicyEffect, PolicyPatch,
    RuleMessage, Scope, ValidationRule,
};

use super::builder::Policy;
use crate::Error;
use crate::webhook::{Reach, check_conditions};

const EMPTY: &str = "one of its expressions is empty";
const NO_NAMESPACE: &str = "its objects are cluster-scoped, but its parameter is in the namespace of the \
                            object; use a parameter of a cluster-scoped kind";
const NO_RULE: &str = "it has no rule; add .rule(expression, message)";
const MESSAGE: &str = "the message of a rule is one line of text";
const DENY_AND_WARN: &str = "a denied request needs no warning; use one of PolicyAction::Deny and \
                             PolicyAction::Warn";
const NO_PATCH: &str = "it changes nothing; add .patch(expression)";
const DELETED: &str = "a deleted object cannot be changed; leave Operation::Delete out";

impl Policy<PolicyEffect> {
    /// Returns an error if the API server would reject the policy.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for text in [&self.objects, &self.namespaces] {
            text.parse::<LabelSelector>()
                .and_then(|selector| selector.to_object())
                .map_err(|source| Error::PolicySelector {
                    policy: self.name.clone(),
                    text: text.clone(),
                    source,
                })?;
        }
        let reach = Reach {
            kind: &self.resource.kind,
            exemption: self.exemption,
            objects: &self.objects,
            namespaces: &self.namespaces,
            failure_policy: self.failure_policy,
        };
        if reach.could_stop_the_cluster() {
            return Err(Error::PolicyTooBroad {
                policy: self.name.clone(),
            });
        }
        self.check_parts().map_err(|why| Error::Policy {
            policy: self.name.clone(),
            why,
        })
    }

    fn check_parts(&self) -> Result<(), &'static str> {
        if self
            .variables
            .iter()
            .any(|variable| is_blank(&variable.expression))
        {
            return Err(EMPTY);
        }
        check_conditions(&self.conditions)?;
        let is_namespaced =
            |parameter: &ParameterDescription| parameter.resource.scope == Scope::Namespaced;
        if self.resource.scope == Scope::Cluster
            && self.parameter.as_ref().is_some_and(is_namespaced)
        {
            return Err(NO_NAMESPACE);
        }
        match &self.effect {
            PolicyEffect::Validating { rules, actions } => check_rules(rules, actions),
            PolicyEffect::Mutating { patches, .. } => self.check_patches(patches),
        }
    }

    fn check_patches(&self, patches: &[PolicyPatch]) -> Result<(), &'static str> {
        let is_empty = |patch: &PolicyPatch| match patch {
            PolicyPatch::Json(expression) | PolicyPatch::Apply(expression) => is_blank(expression),
        };
        if patches.is_empty() {
            return Err(NO_PATCH);
        }
        if self.operations.contains(&Operation::Delete) {
            return Err(DELETED);
        }
        if patches.iter().any(is_empty) {
            return Err(EMPTY);
        }
        Ok(())
    }
}

fn check_rules(rules: &[ValidationRule], actions: &[PolicyAction]) -> Result<(), &'static str> {
    let is_invalid = |message: &RuleMessage| match message {
        RuleMessage::Text(text) => is_blank(text) || text.contains(['\n', '\r']),
        RuleMessage::Expression(expression) => is_blank(expression),
    };
    if rules.is_empty() {
        return Err(NO_RULE);
    }
    if rules.iter().any(|rule| is_blank(&rule.expression)) {
        return Err(EMPTY);
    }
    if rules.iter().any(|rule| is_invalid(&rule.message)) {
        return Err(MESSAGE);
    }
    if actions.contains(&PolicyAction::Deny) && actions.contains(&PolicyAction::Warn) {
        return Err(DENY_AND_WARN);
    }
    Ok(())
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
