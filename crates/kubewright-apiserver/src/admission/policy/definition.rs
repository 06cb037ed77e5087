//! Stored policies and their bindings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use kubewright_core::{FailurePolicy, GroupVersion, Kind, WebhookKind};
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::admissionregistration::{
    MUTATING_ADMISSION_POLICY, MUTATING_ADMISSION_POLICY_BINDING, VALIDATING_ADMISSION_POLICY,
    VALIDATING_ADMISSION_POLICY_BINDING,
};
use kubewright_kinds::json::{items, text};
use serde_json::Value;

use super::compiled::{Mutations, Validations};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::Criteria;
use crate::store::{Key, Object, ParsedCache};

/// A policy with its bindings. A policy without bindings has no effect.
#[derive(Debug)]
pub(super) struct BoundPolicy {
    pub(super) policy: Arc<Policy>,
    pub(super) bindings: Vec<Binding>,
}

/// A ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
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

/// The kinds of policies and of their bindings.
pub(super) struct PolicyKinds {
    policy: &'static BuiltinKind,
    pub(super) binding: &'static BuiltinKind,
}

impl PolicyKinds {
    pub(super) fn of(kind: WebhookKind) -> Self {
        match kind {
            WebhookKind::Mutating => Self {
                policy: &MUTATING_ADMISSION_POLICY,
                binding: &MUTATING_ADMISSION_POLICY_BINDING,
            },
            WebhookKind::Validating => Self {
                policy: &VALIDATING_ADMISSION_POLICY,
                binding: &VALIDATING_ADMISSION_POLICY_BINDING,
            },
        }
    }
}

/// Policies never see policies and bindings: a broken policy could not be repaired
/// (`admissionResources`).
pub(super) fn is_exempt(attributes: &AdmissionAttributes) -> bool {
    let resource = &attributes.resource;
    [WebhookKind::Mutating, WebhookKind::Validating]
        .map(PolicyKinds::of)
        .iter()
        .any(|kinds| resource.is(kinds.policy) || resource.is(kinds.binding))
}

/// The policies of a kind that have a binding, by name. Kubernetes evaluates them in no order.
pub(super) fn bound_policies(
    context: &AdmissionContext,
    parsed: &ParsedCache<Policy>,
    kind: WebhookKind,
) -> Vec<BoundPolicy> {
    let snapshot = context.store.snapshot();
    let kinds = PolicyKinds::of(kind);
    let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
    for object in snapshot.list(kinds.binding.resource_id(), None) {
        let spec = &object.value()["spec"];
        bound
            .entry(text(&spec["policyName"]).to_owned())
            .or_default()
            .push(Binding::read(object.name(), spec));
    }
    bound
        .into_iter()
        .filter_map(|(name, bindings)| {
            // A binding can be created before its policy.
            let key = Key::new(kinds.policy.resource_id(), None, &name);
            let policy = parsed.get(snapshot.get(&key)?, Policy::read);
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
        let actions = items(&spec["validationActions"]);
        Self {
            name: name.to_owned(),
            criteria: resources.is_object().then(|| criteria(resources)),
            param_ref: spec["paramRef"].clone(),
            actions: actions.map(|action| text(action).to_owned()).collect(),
        }
    }
}

fn criteria(resources: &Value) -> Criteria {
    let rules = |field: &str| resources[field].as_array().cloned().unwrap_or_default();
    Criteria {
        rules: Some(rules("resourceRules")).filter(|rules| !rules.is_empty()),
        excluded: rules("excludeResourceRules"),
        ..Criteria::selectors(resources)
    }
}

fn param_kind(value: &Value) -> Option<Kind> {
    let api_version = value["apiVersion"].as_str()?;
    Some(Kind {
        group_version: GroupVersion::from_api_version(api_version),
        kind: text(&value["kind"]).to_owned(),
    })
}
