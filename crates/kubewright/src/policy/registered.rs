use std::fmt;

use kubewright_core::{
    Exemption, FailurePolicy, LabelSelector, MissingParameter, NamedExpression, Operation,
    ParameterDescription, PolicyAction, PolicyDescription, PolicyEffect, PolicyPatch, Reinvocation,
    Resource, RuleMessage, Scope, ValidationRule,
};

use super::{Mutation, Validation};
use crate::controller::{TypedKind, resource_of};
use crate::webhook::{Place, Width, conditions, fault_of_conditions, usual_exemption};
use crate::{Error, Webhook};

/// A rule in CEL that the API server follows by itself, also while the operator is down: a
/// ValidatingAdmissionPolicy or a MutatingAdmissionPolicy with its binding, as parts of the
/// manifests.
///
/// Where a function is not needed it is the better webhook: it has no certificate, costs no
/// call, and nobody waits for it.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::Policy;
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
/// let names: Vec<_> = operator.description().policies.into_iter().map(|one| one.name).collect();
/// assert_eq!(names, ["guard.pinned", "guard.kept"]);
/// ```
///
/// Rules for kinds of one's own need no policy: kube's derive puts them into the definition, as
/// `x-kubernetes-validations`.
#[must_use = "a policy does nothing until it is registered with Operator::policy"]
pub struct Policy<E> {
    name: String,
    resource: Resource,
    /// Create and update when it is empty.
    operations: Vec<Operation>,
    failure_policy: FailurePolicy,
    objects: String,
    namespaces: String,
    exemption: Exemption,
    conditions: Vec<NamedExpression>,
    variables: Vec<NamedExpression>,
    parameter: Option<ParameterDescription>,
    stand_in: Option<Webhook>,
    effect: E,
}

impl Policy<Validation> {
    /// Judges objects, on create and update unless [`on`](Self::on) says otherwise: one that a
    /// [`rule`](Self::rule) does not hold for is refused with 422.
    ///
    /// The objects are called `OPERATOR.NAME`.
    pub fn validates<K: TypedKind>(name: impl Into<String>) -> Self {
        Self::validates_of(resource_of::<K>(), name)
    }

    /// The same for a kind that is known only when the program runs.
    pub fn validates_of(resource: Resource, name: impl Into<String>) -> Self {
        let effect = Validation {
            rules: Vec::new(),
            actions: Vec::new(),
        };
        Self::new(resource, name.into(), effect)
    }

    /// Allows only what the expression holds for, and says this otherwise; say it again for more.
    ///
    /// The expression knows `object`, `oldObject`, `request`, `namespaceObject`, `params`,
    /// `variables` and `authorizer`. On create there is no `oldObject`, on delete no `object`.
    pub fn rule(self, expression: impl Into<String>, message: impl Into<String>) -> Self {
        self.ruled(expression.into(), RuleMessage::Text(message.into()))
    }

    /// The same with a message that is an expression, too: `"'at most ' + string(params.spec.most)"`.
    pub fn rule_saying(self, expression: impl Into<String>, message: impl Into<String>) -> Self {
        self.ruled(expression.into(), RuleMessage::Expression(message.into()))
    }

    fn ruled(mut self, expression: String, message: RuleMessage) -> Self {
        self.effect.rules.push(ValidationRule {
            expression,
            message,
        });
        self
    }

    /// What becomes of a request that breaks a rule; say it again for more. Without it: it is
    /// refused.
    pub fn action(mut self, action: PolicyAction) -> Self {
        if !self.effect.actions.contains(&action) {
            self.effect.actions.push(action);
        }
        self
    }
}

impl Policy<Mutation> {
    /// Changes objects, on create and update unless [`on`](Self::on) says otherwise.
    ///
    /// The objects are called `OPERATOR.NAME`. Kubernetes serves such policies since 1.36.
    pub fn mutates<K: TypedKind>(name: impl Into<String>) -> Self {
        Self::mutates_of(resource_of::<K>(), name)
    }

    /// The same for a kind that is known only when the program runs.
    pub fn mutates_of(resource: Resource, name: impl Into<String>) -> Self {
        let effect = Mutation {
            patches: Vec::new(),
            reinvocation: Reinvocation::Never,
        };
        Self::new(resource, name.into(), effect)
    }

    /// Changes the object by JSON Patch: the expression gives a list of `JSONPatch{op, path, value}`.
    /// Say it again for more; each sees what those before have made.
    ///
    /// An object may come twice: let [`when`](Self::when) leave out what has the change already.
    pub fn patch(mut self, expression: impl Into<String>) -> Self {
        self.effect
            .patches
            .push(PolicyPatch::Json(expression.into()));
        self
    }

    /// Changes the object by server-side apply: the expression gives an `Object{..}` with the
    /// fields to be set.
    pub fn apply(mut self, expression: impl Into<String>) -> Self {
        self.effect
            .patches
            .push(PolicyPatch::Apply(expression.into()));
        self
    }

    /// Whether it acts again when something else changed the object later.
    pub fn reinvoke(mut self, policy: Reinvocation) -> Self {
        self.effect.reinvocation = policy;
        self
    }
}

impl<E> Policy<E> {
    fn new(resource: Resource, name: String, effect: E) -> Self {
        Self {
            name,
            exemption: usual_exemption(&resource.kind),
            resource,
            operations: Vec::new(),
            failure_policy: FailurePolicy::Fail,
            objects: String::new(),
            namespaces: String::new(),
            conditions: Vec::new(),
            variables: Vec::new(),
            parameter: None,
            stand_in: None,
            effect,
        }
    }

    /// Only for this; say it again for more. Without it: create and update.
    pub fn on(mut self, operation: Operation) -> Self {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
        self
    }

    /// What happens when an expression has no value, such as for a field that is not there;
    /// requests fail unless said otherwise.
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = policy;
        self
    }

    /// Only objects with these labels, such as `app=web`.
    pub fn objects(mut self, selector: impl Into<String>) -> Self {
        self.objects = selector.into();
        self
    }

    /// Only objects in namespaces with these labels.
    pub fn namespaces(mut self, selector: impl Into<String>) -> Self {
        self.namespaces = selector.into();
        self
    }

    /// Which namespaces are left alone: for kinds of Kubernetes itself `kube-system` and the
    /// operator's own, unless said otherwise.
    pub fn exempt(mut self, exemption: Exemption) -> Self {
        self.exemption = exemption;
        self
    }

    /// Only requests for which the expression holds; say it again for more. The name is for
    /// messages.
    ///
    /// One condition is always there for updates: `not-finalizing`, which leaves out those that
    /// change only the metadata of an object that is going, so that no rule holds a finalizer fast.
    pub fn when(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.conditions.push(NamedExpression {
            name: name.into(),
            expression: expression.into(),
        });
        self
    }

    /// A value that the expressions of rules and patches, and of variables that come later, know as
    /// `variables.NAME`.
    pub fn variable(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.variables.push(NamedExpression {
            name: name.into(),
            expression: expression.into(),
        });
        self
    }

    /// Lets expressions know the object of this kind and name as `params`: for settings that are to
    /// change without a new release. Of a kind that is in namespaces, it is the one in the namespace
    /// of the object that is asked about.
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

    /// The webhook that does the same where a cluster serves no policies: the manifests have it
    /// instead with `--no-policies`, and so does `run`.
    ///
    /// Where it says nothing else, it is for the operations, objects and namespaces of the policy,
    /// with its exemption and failure policy, and is served under the usual path and the policy's
    /// name, such as `/validate--v1-pod/NAME`.
    pub fn stand_in(mut self, webhook: Webhook) -> Self {
        self.stand_in = Some(webhook);
        self
    }

    /// The same with an effect of another type, and with a webhook for what the policy is for:
    /// nothing is said of it any more.
    pub(crate) fn with<F>(self) -> Policy<F>
    where
        E: Into<F>,
    {
        let place = Place {
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
            stand_in: self.stand_in.map(|webhook| webhook.standing_in(place)),
            effect: self.effect.into(),
        }
    }
}

impl Policy<PolicyEffect> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What stands in for it.
    pub(crate) fn webhook(&self) -> Option<&Webhook> {
        self.stand_in.as_ref()
    }

    /// What stands in for it, where it cannot be.
    pub(crate) fn into_webhook(self) -> Result<Webhook, Error> {
        let name = self.name;
        self.stand_in.ok_or(Error::NoStandIn { policy: name })
    }

    pub(crate) fn describe(&self, operator: &str) -> PolicyDescription {
        let mut effect = self.effect.clone();
        if let PolicyEffect::Validating { actions, .. } = &mut effect
            && actions.is_empty()
        {
            actions.push(PolicyAction::Deny);
        }
        PolicyDescription {
            // No operator has a dot in its name, so that no two have a policy of one name.
            name: format!("{operator}.{}", self.name),
            effect,
            resource: self.resource.clone(),
            operations: match self.operations.is_empty() {
                true => vec![Operation::Create, Operation::Update],
                false => self.operations.clone(),
            },
            failure_policy: self.failure_policy,
            objects: self.objects.parse().unwrap_or_default(),
            namespaces: self.namespaces.parse().unwrap_or_default(),
            exemption: self.exemption,
            conditions: conditions(&self.operations, &self.conditions),
            variables: self.variables.clone(),
            parameter: self.parameter.clone(),
            fallback: self
                .stand_in
                .as_ref()
                .map(|webhook| webhook.describe(operator)),
        }
    }

    /// Refuses what the API server would not take, as far as it can be told without reading the
    /// expressions.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for text in [&self.objects, &self.namespaces] {
            let parsed = text.parse::<LabelSelector>();
            parsed
                .and_then(|selector| selector.to_object())
                .map_err(|source| Error::PolicySelector {
                    policy: self.name.clone(),
                    text: text.clone(),
                    source,
                })?;
        }
        let width = Width {
            kind: &self.resource.kind,
            exemption: self.exemption,
            objects: &self.objects,
            namespaces: &self.namespaces,
            failure_policy: self.failure_policy,
        };
        if width.could_stop_the_cluster() {
            return Err(Error::PolicyWidth {
                policy: self.name.clone(),
            });
        }
        match self.fault() {
            None => Ok(()),
            Some(why) => Err(Error::Policy {
                policy: self.name.clone(),
                why,
            }),
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let in_namespaces = |one: &ParameterDescription| one.resource.scope == Scope::Namespaced;
        let is_nowhere = self.resource.scope == Scope::Cluster;
        if self.variables.iter().any(|one| is_blank(&one.expression)) {
            return Some(EMPTY);
        }
        if let Some(fault) = fault_of_conditions(&self.conditions) {
            return Some(fault);
        }
        if is_nowhere && self.parameter.as_ref().is_some_and(in_namespaces) {
            return Some(NO_NAMESPACE);
        }
        match &self.effect {
            PolicyEffect::Validating { rules, actions } => fault_of_rules(rules, actions),
            PolicyEffect::Mutating { patches, .. } => self.fault_of_patches(patches),
        }
    }

    fn fault_of_patches(&self, patches: &[PolicyPatch]) -> Option<&'static str> {
        let is_empty = |one: &PolicyPatch| match one {
            PolicyPatch::Json(expression) | PolicyPatch::Apply(expression) => is_blank(expression),
        };
        if patches.is_empty() {
            return Some(NO_PATCH);
        }
        if self.operations.contains(&Operation::Delete) {
            return Some(DELETED);
        }
        patches.iter().any(is_empty).then_some(EMPTY)
    }
}

fn fault_of_rules(rules: &[ValidationRule], actions: &[PolicyAction]) -> Option<&'static str> {
    let is_wrong = |message: &RuleMessage| match message {
        RuleMessage::Text(text) => is_blank(text) || text.contains(['\n', '\r']),
        RuleMessage::Expression(expression) => is_blank(expression),
    };
    if rules.is_empty() {
        return Some(NO_RULE);
    }
    if rules.iter().any(|rule| is_blank(&rule.expression)) {
        return Some(EMPTY);
    }
    if rules.iter().any(|rule| is_wrong(&rule.message)) {
        return Some(MESSAGE);
    }
    let both = [PolicyAction::Deny, PolicyAction::Warn];
    both.iter()
        .all(|one| actions.contains(one))
        .then_some(TOLD_TWICE)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

const EMPTY: &str = "one of its expressions is empty";
const NO_NAMESPACE: &str = "its objects are in no namespace, where its parameter would be looked for; \
                            take a parameter of a kind that is in none";
const NO_RULE: &str = "it has no rule; add .rule(expression, message)";
const MESSAGE: &str = "the message of a rule is one line of text";
const TOLD_TWICE: &str = "who is refused need not be warned; take one of PolicyAction::Deny and \
                          PolicyAction::Warn";
const NO_PATCH: &str = "it changes nothing; add .patch(expression)";
const DELETED: &str = "what is deleted cannot be changed; leave Operation::Delete out";

impl<E> fmt::Debug for Policy<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("name", &self.name)
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
