//! Admission policies of a `Description`: rules in CEL that the API server evaluates by itself.

use serde::{Deserialize, Serialize};

use crate::expression::NamedExpression;
use crate::kind::Resource;
use crate::selector::LabelSelector;
use crate::webhook::{Exemption, FailurePolicy, Operation, Reinvocation, WebhookDescription};

/// One admission policy of a [`Description`](crate::Description): rules in CEL that the API server
/// evaluates by itself, also while the operator is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDescription {
    /// Names the policy and its binding; responses to clients contain it.
    pub name: String,
    /// Whether it validates or mutates objects.
    pub effect: PolicyEffect,
    /// The kind that the policy matches.
    pub resource: Resource,
    /// The operations that the policy matches.
    pub operations: Vec<Operation>,
    /// What happens to a request when the evaluation of an expression fails.
    pub failure_policy: FailurePolicy,
    /// Only objects with these labels.
    pub objects: LabelSelector,
    /// Only objects in namespaces with these labels.
    pub namespaces: LabelSelector,
    /// Which namespaces are exempt, whatever their labels.
    pub exemption: Exemption,
    /// Only requests for which all of these are true.
    pub conditions: Vec<NamedExpression>,
    /// Values that other expressions read as `variables.NAME`.
    pub variables: Vec<NamedExpression>,
    /// The object that expressions read as `params`.
    pub parameter: Option<ParameterDescription>,
    /// The webhook that replaces the policy in a cluster that does not serve policies.
    pub fallback: Option<WebhookDescription>,
}

/// Whether a policy validates or mutates objects, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyEffect {
    /// Validates them.
    Validating {
        /// All of them must be true.
        rules: Vec<ValidationRule>,
        /// What happens to a request that violates one.
        actions: Vec<PolicyAction>,
    },
    /// Mutates them.
    Mutating {
        /// The patches, in the order in which they are applied.
        patches: Vec<PolicyPatch>,
        /// Whether it is applied again when a later mutation changed the object.
        reinvocation: Reinvocation,
    },
}

impl PolicyEffect {
    /// The kind of the policy; the kind of its binding has the suffix `Binding`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Validating { .. } => "ValidatingAdmissionPolicy",
            Self::Mutating { .. } => "MutatingAdmissionPolicy",
        }
    }

    /// The first minor version of Kubernetes 1 that serves the kind as it is used here.
    pub const fn since(&self) -> u32 {
        match self {
            Self::Validating { .. } => 30,
            Self::Mutating { .. } => 36,
        }
    }
}

/// One validation of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationRule {
    /// Is true for what is allowed.
    pub expression: String,
    /// The message to the client when it is false.
    pub message: RuleMessage,
}

/// The message to the client when a validation fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleMessage {
    /// A fixed text.
    Text(String),
    /// An expression that evaluates to the text.
    Expression(String),
}

/// One mutation of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyPatch {
    /// An expression that evaluates to a list of `JSONPatch{..}`.
    Json(String),
    /// An expression that evaluates to an `Object{..}` with the fields to set.
    Apply(String),
}

/// The object that the expressions of a policy read as `params`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDescription {
    /// Its kind. An object of a namespaced kind is looked up in the namespace of the request's
    /// object.
    pub resource: Resource,
    /// Its name.
    pub name: String,
    /// What happens when it does not exist.
    pub missing: MissingParameter,
}

/// What happens to a request that violates a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolicyAction {
    /// It is denied.
    Deny,
    /// It is admitted, and the client gets a warning.
    Warn,
    /// It is admitted, and the violation is recorded in the audit log.
    Audit,
}

/// What a policy does when its parameter object does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MissingParameter {
    /// It admits the request.
    #[default]
    Allow,
    /// It treats the request as it does when an expression fails: by the failure policy.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::{PolicyAction, PolicyEffect};
    use crate::Reinvocation;

    #[test]
    fn policy_kinds_are_used_since_they_are_stable() {
        let validating = PolicyEffect::Validating {
            rules: Vec::new(),
            actions: vec![PolicyAction::Deny],
        };
        let mutating = PolicyEffect::Mutating {
            patches: Vec::new(),
            reinvocation: Reinvocation::Never,
        };
        assert_eq!(
            (validating.kind(), validating.since()),
            ("ValidatingAdmissionPolicy", 30)
        );
        assert_eq!(
            (mutating.kind(), mutating.since()),
            ("MutatingAdmissionPolicy", 36)
        );
    }
}
