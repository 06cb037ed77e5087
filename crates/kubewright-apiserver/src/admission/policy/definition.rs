//! Stored policies and their bindings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use kubewright_core::{FailurePolicy, GroupVersion, Kind, WebhookKind};
use serde_json::Value;

use super::compiled::{Mutations, Validations};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::Criteria;
use crate::store::{Key, Object, ParsedCache};

/// A policy with its bindings. A policy without bindings has no effect.
#[derive(Debug)]
pub(super) struct BoundPolicy {
    pub(super) policy: Arc<Policy>,
    pub(super) bindings: Vec<Binding>,
}

/// What both kinds of policies have in common.
#[derive(Debug)]
pub(in crate::admission) struct Policy {
    pub(super) name: String,
    pub(super) failure_policy: FailurePolicy,
    pub(super) criteria: Criteria,
    pub(super) param_kind: Option<Kind>,
    pub(super) spec: Value,
    /// Compiled when the policy first matches a request.
    validations: OnceLock<Validations>,
    mutations: OnceLock<Mutations>,
}

/// The binding of a policy.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    /// None for all requests that the policy matches.
    pub(super) criteria: Option<Criteria>,
    /// Null without parameters.
    pub(super) param_ref: Value,
    /// The actions on a failed validation: `Deny`, `Warn`, `Audit`.
    pub(super) actions: Vec<String>,
}

/// The resources of policies and of bindings.
pub(super) struct PolicyResources {
    pub(super) policies: &'static str,
    pub(super) bindings: &'static str,
}

impl PolicyResources {
    pub(super) fn of(kind: WebhookKind) -> Self {
        match kind {
            WebhookKind::Mutating => Self {
                policies: "mutatingadmissionpolicies.admissionregistration.k8s.io",
                bindings: "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
            },
            WebhookKind::Validating => Self {
                policies: "validatingadmissionpolicies.admissionregistration.k8s.io",
                bindings: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
            },
        }
    }
}

/// Policies never see policies and bindings: a broken one could not be repaired
/// (`admissionResources`).
pub(super) fn is_exempt(attributes: &Attributes) -> bool {
    let kinds = [WebhookKind::Mutating, WebhookKind::Validating];
    kinds.into_iter().any(|kind| {
        let resources = PolicyResources::of(kind);
        let id = &*attributes.resource.id;
        id == resources.policies || id == resources.bindings
    })
}

/// The policies of a kind that have a binding, by name. Kubernetes evaluates them in no order.
pub(super) fn bound_policies(
    context: &AdmissionContext,
    parsed: &ParsedCache<Policy>,
    kind: WebhookKind,
) -> Vec<BoundPolicy> {
    let snapshot = context.store.snapshot();
    let resources = PolicyResources::of(kind);
    let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
    for binding in snapshot.list(resources.bindings, None) {
        let spec = &binding.value()["spec"];
        let binding = Binding::read(binding.name(), spec);
        bound
            .entry(text(&spec["policyName"]))
            .or_default()
            .push(binding);
    }
    bound
        .into_iter()
        .filter_map(|(name, bindings)| {
            // A binding may be older than its policy.
            let policy = snapshot.get(&Key::new(resources.policies, None, &name))?;
            let policy = parsed.get(policy, Policy::read);
            Some(BoundPolicy { policy, bindings })
        })
        .collect()
}

impl Policy {
    fn read(object: &Object) -> Self {
        let spec = &object.value()["spec"];
        Self {
            name: object.name().to_owned(),
            failure_policy: match spec["failurePolicy"].as_str() {
                Some("Ignore") => FailurePolicy::Ignore,
                _ => FailurePolicy::Fail,
            },
            criteria: criteria(&spec["matchConstraints"]),
            param_kind: param_kind(&spec["paramKind"]),
            spec: spec.clone(),
            validations: OnceLock::new(),
            mutations: OnceLock::new(),
        }
    }

    /// The expressions of a validating policy.
    pub(super) fn validations(&self) -> &Validations {
        self.validations
            .get_or_init(|| Validations::compile(&self.spec))
    }

    /// The expressions of a mutating policy.
    pub(super) fn mutations(&self) -> &Mutations {
        self.mutations
            .get_or_init(|| Mutations::compile(&self.spec))
    }
}

impl Binding {
    fn read(name: &str, spec: &Value) -> Self {
        let resources = &spec["matchResources"];
        let actions = spec["validationActions"].as_array().into_iter().flatten();
        Self {
            name: name.to_owned(),
            criteria: resources.is_object().then(|| criteria(resources)),
            param_ref: spec["paramRef"].clone(),
            actions: actions.map(text).collect(),
        }
    }
}

fn criteria(resources: &Value) -> Criteria {
    let rules = |field: &str| resources[field].as_array().cloned().unwrap_or_default();
    Criteria {
        rules: Some(rules("resourceRules")).filter(|rules| !rules.is_empty()),
        excluded: rules("excludeResourceRules"),
        ..Criteria::selecting(resources)
    }
}

fn param_kind(value: &Value) -> Option<Kind> {
    let api_version = value["apiVersion"].as_str()?;
    Some(Kind {
        group_version: GroupVersion::from_api_version(api_version),
        kind: text(&value["kind"]),
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
