//! [`Policy`]: a rule in CEL that the API server evaluates.

use std::fmt;

use kubewright_core::{
    Exemption, FailurePolicy, MissingParameter, NamedExpression, Operation, ParameterDescription,
    PolicyAction, PolicyPatch, Reinvocation, Resource, RuleMessage, ValidationRule,
};

use super::effect::{Mutation, Validation};
use crate::kinds::{TypedKind, resource_of};
use crate::webhook::{FallbackScope, Webhook, default_exemption};

/// A rule in CEL that the API server evaluates itself, also while the operator is down: a
/// ValidatingAdmissionPolicy or a MutatingAdmissionPolicy with its binding, both in the manifests.
///
/// Prefer a policy to a webhook if the rule can be an expression: it needs no certificate and no
/// call.
///
/// ```
/// use kubewright::Policy;
/// use kubewright::prelude::*;
/// use kubewright::webhook::Operation;
///
/// let operator = Operator::new("guard")
///     .policy(
///         Policy::validates::<Pod>("pinned")
///             .rule("object.spec.containers.all(c, !c.image.endsWith(':latest'))", "pin the image")
///             .namespaces("env=production"),
///     )
///     .policy(
///         Policy::mutates::<ConfigMap>("kept")
///             .on(Operation::Create)
///             .when("undecided", "!has(object.immutable)")
///             .patch(r#"[JSONPatch{op: "add", path: "/immutable", value: true}]"#),
///     );
/// let policies = operator.description().policies;
/// let names: Vec<_> = policies.into_iter().map(|policy| policy.name).collect();
/// assert_eq!(names, ["guard.pinned", "guard.kept"]);
/// ```
///
/// Rules for custom resources need no policy: kube's derive adds them to the definition, as
/// `x-kubernetes-validations`.
#[must_use = "a policy does nothing until it is registered with Operator::policy"]
pub struct Policy<E> {
    pub(super) name: String,
    pub(super) resource: Resource,
    /// Empty for create and update.
    pub(super) operations: Vec<Operation>,
    pub(super) failure_policy: FailurePolicy,
    pub(super) objects: String,
    pub(super) namespaces: String,
    pub(super) exemption: Exemption,
    pub(super) conditions: Vec<NamedExpression>,
    pub(super) variables: Vec<NamedExpression>,
    pub(super) parameter: Option<ParameterDescription>,
    pub(super) fallback: Option<Webhook>,
    pub(super) effect: E,
}

impl Policy<Validation> {
    /// Creates a policy that validates objects, by default on create and update ([`on`](Self::on)):
    /// a request that violates a [`rule`](Self::rule) is denied with 422.
    ///
    /// The names of policy and binding are `OPERATOR.NAME`.
    pub fn validates<K: TypedKind>(name: impl Into<String>) -> Self {
        Self::validates_of(resource_of::<K>(), name)
    }

    /// Like [`validates`](Self::validates), for a kind that is known only at run time.
    pub fn validates_of(resource: Resource, name: impl Into<String>) -> Self {
        let effect = Validation {
            rules: Vec::new(),
            actions: Vec::new(),
        };
        Self::new(resource, name.into(), effect)
    }

    /// Adds a rule: an expression that must be true, and the message of the denial if it is not.
    ///
    /// The expression has the variables `object`, `oldObject`, `request`, `namespaceObject`,
    /// `params`, `variables` and `authorizer`. `oldObject` is null on create, `object` is null on
    /// delete.
    pub fn rule(self, expression: impl Into<String>, message: impl Into<String>) -> Self {
        self.add_rule(expression.into(), RuleMessage::Text(message.into()))
    }

    /// Adds a rule whose message is an expression, too: `"'at most ' + string(params.spec.most)"`.
    pub fn rule_with_message_expression(
        self,
        expression: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.add_rule(expression.into(), RuleMessage::Expression(message.into()))
    }

    fn add_rule(mut self, expression: String, message: RuleMessage) -> Self {
        self.effect.rules.push(ValidationRule {
            expression,
            message,
        });
        self
    }

    /// Adds an action for requests that violate a rule; the default is `Deny`.
    pub fn action(mut self, action: PolicyAction) -> Self {
        if !self.effect.actions.contains(&action) {
            self.effect.actions.push(action);
        }
        self
    }
}

impl Policy<Mutation> {
    /// Creates a policy that changes objects, by default on create and update ([`on`](Self::on)).
    ///
    /// The names of policy and binding are `OPERATOR.NAME`. Kubernetes serves such policies since
    /// 1.36.
    pub fn mutates<K: TypedKind>(name: impl Into<String>) -> Self {
        Self::mutates_of(resource_of::<K>(), name)
    }

    /// Like [`mutates`](Self::mutates), for a kind that is known only at run time.
    pub fn mutates_of(resource: Resource, name: impl Into<String>) -> Self {
        let effect = Mutation {
            patches: Vec::new(),
            reinvocation: Reinvocation::Never,
        };
        Self::new(resource, name.into(), effect)
    }

    /// Adds a JSON Patch: an expression that returns a list of `JSONPatch{op, path, value}`. Each
    /// patch sees the result of those before it.
    ///
    /// The policy can be evaluated twice for an object: exclude objects that have the change
    /// already by [`when`](Self::when).
    pub fn patch(mut self, expression: impl Into<String>) -> Self {
        self.effect
            .patches
            .push(PolicyPatch::Json(expression.into()));
        self
    }

    /// Adds a server-side apply: an expression that returns an `Object{..}` with the fields to set.
    pub fn apply(mut self, expression: impl Into<String>) -> Self {
        self.effect
            .patches
            .push(PolicyPatch::Apply(expression.into()));
        self
    }

    /// Sets whether the policy is evaluated again if the object changes later in admission.
    pub fn reinvoke(mut self, policy: Reinvocation) -> Self {
        self.effect.reinvocation = policy;
        self
    }
}

impl<E> Policy<E> {
    fn new(resource: Resource, name: String, effect: E) -> Self {
        Self {
            name,
            exemption: default_exemption(&resource.kind),
            resource,
            operations: Vec::new(),
            failure_policy: FailurePolicy::Fail,
            objects: String::new(),
            namespaces: String::new(),
            conditions: Vec::new(),
            variables: Vec::new(),
            parameter: None,
            fallback: None,
            effect,
        }
    }

    /// Adds an operation; the default is create and update.
    pub fn on(mut self, operation: Operation) -> Self {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
        self
    }

    /// Sets what happens if an expression fails, such as for a missing field; by default the
    /// request fails.
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = policy;
        self
    }

    /// Restricts the policy to objects with these labels, such as `app=web`.
    pub fn objects(mut self, selector: impl Into<String>) -> Self {
        self.objects = selector.into();
        self
    }

    /// Restricts the policy to objects in namespaces with these labels.
    pub fn namespaces(mut self, selector: impl Into<String>) -> Self {
        self.namespaces = selector.into();
        self
    }

    /// Sets which namespaces are exempt. The default for built-in kinds is `kube-system` and the
    /// operator's own namespace.
    pub fn exempt(mut self, exemption: Exemption) -> Self {
        self.exemption = exemption;
        self
    }

    /// Adds a match condition: an expression that must be true for the request. The name is for
    /// messages.
    ///
    /// Updates always have the condition `not-finalizing`. It excludes updates that change only the
    /// metadata of an object that is being deleted, so that no rule blocks the removal of a
    /// finalizer.
    pub fn when(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.conditions.push(NamedExpression {
            name: name.into(),
            expression: expression.into(),
        });
        self
    }

    /// Adds a variable, which the expressions of rules, patches and later variables refer to as
    /// `variables.NAME`.
    pub fn variable(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.variables.push(NamedExpression {
            name: name.into(),
            expression: expression.into(),
        });
        self
    }

    /// Sets the object that expressions refer to as `params`: for settings that change without a
    /// new release. If its kind is namespaced, it is in the namespace of the object in the request.
    pub fn parameter<K: TypedKind>(
        mut self,
        name: impl Into<String>,
        missing: MissingParameter,
    ) -> Self {
        self.parameter = Some(ParameterDescription {
            resource: resource_of::<K>(),
            name: name.into(),
            missing,
        });
        self
    }

    /// Sets the webhook that replaces the policy in clusters without policies: with
    /// `--no-policies`, the manifests and `run` have it instead.
    ///
    /// Its operations, objects, namespaces, exemption and failure policy default to those of the
    /// policy. Its default path ends with the name of the policy, such as `/validate--v1-pod/NAME`.
    pub fn fallback(mut self, webhook: Webhook) -> Self {
        self.fallback = Some(webhook);
        self
    }

    /// Converts the effect to another type, and completes the fallback webhook with the defaults of
    /// the policy, whose scope is final now.
    pub(crate) fn complete<F>(self) -> Policy<F>
    where
        E: Into<F>,
    {
        let scope = FallbackScope {
            policy: self.name.clone(),
            operations: self.operations.clone(),
            failure_policy: self.failure_policy,
            objects: self.objects.clone(),
            namespaces: self.namespaces.clone(),
            exemption: self.exemption,
        };
        Policy {
            name: self.name,
            resource: self.resource,
            operations: self.operations,
            failure_policy: self.failure_policy,
            objects: self.objects,
            namespaces: self.namespaces,
            exemption: self.exemption,
            conditions: self.conditions,
            variables: self.variables,
            parameter: self.parameter,
            fallback: self.fallback.map(|webhook| webhook.fallback_for(scope)),
            effect: self.effect.into(),
        }
    }
}

impl<E> fmt::Debug for Policy<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("name", &self.name)
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
