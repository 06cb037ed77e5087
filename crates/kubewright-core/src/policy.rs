use serde::{Deserialize, Serialize};

use crate::{
    Exemption, FailurePolicy, LabelSelector, Operation, Reinvocation, Resource, WebhookDescription,
};

/// One admission policy of a [`Description`](crate::Description): a rule in CEL that the API server
/// follows by itself, also while the operator is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDescription {
    /// Names the policy and its binding, and so stands in answers to clients.
    pub name: String,
    /// What it does with objects.
    pub effect: PolicyEffect,
    /// The kind whose objects it is for.
    pub resource: Resource,
    /// What it is asked about.
    pub operations: Vec<Operation>,
    /// What happens to a request when an expression has no value for it.
    pub failure_policy: FailurePolicy,
    /// Only objects with these labels.
    pub objects: LabelSelector,
    /// Only objects in namespaces with these labels.
    pub namespaces: LabelSelector,
    /// Which namespaces are left alone whatever their labels.
    pub exemption: Exemption,
    /// Only requests for which all of these hold.
    pub conditions: Vec<NamedExpression>,
    /// Values that other expressions know as `variables.NAME`.
    pub variables: Vec<NamedExpression>,
    /// The object that expressions know as `params`.
    pub parameter: Option<ParameterDescription>,
    /// The webhook that does the same where a cluster serves no policies.
    pub stand_in: Option<WebhookDescription>,
}

/// What a policy does with objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyEffect {
    /// Judges them.
    Validating {
        /// All of them have to hold.
        rules: Vec<ValidationRule>,
        /// What becomes of a request for which one does not.
        actions: Vec<PolicyAction>,
    },
    /// Changes them.
    Mutating {
        /// The changes, one after another.
        patches: Vec<PolicyPatch>,
        /// Whether it acts again when something else changed the object later.
        reinvocation: Reinvocation,
    },
}

impl PolicyEffect {
    /// The kind of the policy; that of its binding has `Binding` at its end.
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

/// A rule of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationRule {
    /// Holds for what is allowed.
    pub expression: String,
    /// What the user reads when it does not hold.
    pub message: RuleMessage,
}

/// What a user reads when a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleMessage {
    /// These words.
    Text(String),
    /// What an expression gives.
    Expression(String),
}

/// A change that a policy makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyPatch {
    /// An expression that gives a list of `JSONPatch{..}`.
    Json(String),
    /// An expression that gives an `Object{..}` with the fields to be set.
    Apply(String),
}

/// An expression with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedExpression {
    /// The name.
    pub name: String,
    /// The expression, in CEL.
    pub expression: String,
}

impl NamedExpression {
    /// Holds for all requests but those that change nothing except the metadata of an object that
    /// is going.
    ///
    /// Whoever holds a finalizer must be able to take it away, however broken the rest of the
    /// object is and whether or not somebody is there to judge it: a webhook that fails closed
    /// would keep the object, and its namespace, for ever. An object that is going and changes
    /// otherwise is judged all the same: a Pod may go for an hour, and run another image meanwhile.
    pub fn not_finalizing() -> Self {
        Self {
            name: "not-finalizing".to_owned(),
            expression: NOT_FINALIZING.to_owned(),
        }
    }
}

/// It has a value for every request: only an update has both objects, and the operators of CEL
/// look no further once they know the result.
const NOT_FINALIZING: &str = "request.operation != 'UPDATE' \
    || !has(oldObject.metadata.deletionTimestamp) \
    || oldObject.exists(field, !(field in object)) \
    || object.exists(field, field != 'metadata' \
    && !(field in oldObject && object[field] == oldObject[field]))";

/// The object that the expressions of a policy know as `params`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDescription {
    /// Its kind. Of a kind that is in namespaces, the one in the namespace of the request's object
    /// is meant.
    pub resource: Resource,
    /// Its name.
    pub name: String,
    /// What happens when it is not there.
    pub missing: MissingParameter,
}

/// What becomes of a request that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolicyAction {
    /// It is refused.
    Deny,
    /// It goes on, and the client is warned.
    Warn,
    /// It goes on, and the audit log tells of it.
    Audit,
}

/// What a policy does when its parameter is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MissingParameter {
    /// Nothing.
    #[default]
    Allow,
    /// As when an expression has no value: the failure policy says.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::{PolicyAction, PolicyEffect};
    use crate::Reinvocation;

    #[test]
    fn kinds_are_served_since_they_are_stable() {
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
