use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use kubewright_core::{FailurePolicy, GroupVersion, Kind, WebhookKind};
use serde_json::Value;

use super::compiled::{Mutations, Validations};
use crate::admission::matching::{Attributes, Criteria};
use crate::server::Server;
use crate::store::{Key, Object};

/// A stored policy with its bindings: without one it does nothing.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) policy: Arc<Policy>,
    pub(super) bindings: Vec<Binding>,
}

/// What is the same for both kinds of policies.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(super) name: String,
    pub(super) failure_policy: FailurePolicy,
    pub(super) criteria: Criteria,
    pub(super) param_kind: Option<Kind>,
    pub(super) spec: Value,
    /// Compiled for the first request that the policy is about.
    validations: OnceLock<Validations>,
    mutations: OnceLock<Mutations>,
}

/// Puts a policy to use.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    /// None for all requests that the policy is about.
    pub(super) criteria: Option<Criteria>,
    /// Null where it names no params.
    pub(super) param_ref: Value,
    /// What a refusal leads to: `Deny`, `Warn`, `Audit`.
    pub(super) actions: Vec<String>,
}

/// Whether there is any binding of a kind, and so anything to ask.
pub(crate) fn is_used(server: &Server, kind: WebhookKind) -> bool {
    let snapshot = server.store().snapshot();
    snapshot.list(resources(kind).1, None).next().is_some()
}

/// Policies are never asked about policies, or nobody could mend them (`admissionResources`).
pub(super) fn is_exempt(attributes: &Attributes) -> bool {
    let kinds = [WebhookKind::Mutating, WebhookKind::Validating];
    kinds.into_iter().any(|kind| {
        let (policies, bindings) = resources(kind);
        *attributes.served.id == *policies || *attributes.served.id == *bindings
    })
}

fn resources(kind: WebhookKind) -> (&'static str, &'static str) {
    match kind {
        WebhookKind::Mutating => (
            "mutatingadmissionpolicies.admissionregistration.k8s.io",
            "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        ),
        WebhookKind::Validating => (
            "validatingadmissionpolicies.admissionregistration.k8s.io",
            "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        ),
    }
}

/// The policies of a kind that are bound, by their names; Kubernetes asks them in no order.
pub(super) fn hooks(server: &Server, kind: WebhookKind) -> Vec<Hook> {
    let snapshot = server.store().snapshot();
    let (policies, bindings) = resources(kind);
    let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
    for binding in snapshot.list(bindings, None) {
        let spec = &binding.value()["spec"];
        let binding = Binding::read(binding.name(), spec);
        bound
            .entry(text(&spec["policyName"]))
            .or_default()
            .push(binding);
    }
    let hooks = bound.into_iter().filter_map(|(name, bindings)| {
        // A binding may come before its policy.
        let policy = snapshot.get(&Key::new(policies, None, &name))?;
        let policy = server.policies().get(policy, Policy::read);
        Some(Hook { policy, bindings })
    });
    hooks.collect()
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
