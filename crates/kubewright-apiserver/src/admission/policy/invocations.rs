//! The invocations of mutating policies: one for each policy, binding and parameter object.

use kubewright_core::FailurePolicy;
use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::definition::{Binding, BoundPolicy, Policy};
use super::denial::PolicyError;
use super::params::{ParamsFailure, collect, unknown_kind};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{ConversionFailure, Invocation, objects};

/// A policy that runs for a request because of a binding, with one of its parameter objects.
#[derive(Debug)]
pub(super) struct Relevant<'a> {
    pub(super) policy: &'a Policy,
    pub(super) binding: &'a Binding,
    pub(super) invocation: Invocation,
    pub(super) params: Params,
}

/// The parameter object of an invocation; none where policy or binding name no parameters.
pub(super) type Params = Option<Value>;

/// Identifies an invocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InvocationKey {
    policy: String,
    binding: String,
    params_namespace: String,
    params_name: String,
}

impl Relevant<'_> {
    pub(super) fn key(&self) -> InvocationKey {
        let params = self.params.as_ref().unwrap_or(&Value::Null);
        let metadata = |field: &str| text(&params["metadata"][field]).to_owned();
        InvocationKey {
            policy: self.policy.name.clone(),
            binding: self.binding.name.clone(),
            params_namespace: metadata("namespace"),
            params_name: metadata("name"),
        }
    }
}

/// The error of a policy; none if its failure policy is Ignore.
pub(super) fn error(
    policy: &Policy,
    binding: Option<&Binding>,
    message: String,
) -> Option<PolicyError> {
    let is_error = policy.failure_policy == FailurePolicy::Fail;
    is_error.then(|| PolicyError {
        policy: policy.name.clone(),
        binding: binding.map(|binding| binding.name.clone()),
        message,
        is_invalid: false,
    })
}

/// The policies that match a request, with their bindings and parameter objects
/// (`policyDispatcher.Dispatch`).
pub(super) async fn relevant<'a>(
    context: &AdmissionContext,
    policies: &'a [BoundPolicy],
    attributes: &AdmissionAttributes,
    errors: &mut Vec<PolicyError>,
) -> Result<Vec<Relevant<'a>>, Status> {
    let mut relevant = Vec::new();
    for BoundPolicy { policy, bindings } in policies {
        let policy: &Policy = policy;
        let policy_error = |why: String| {
            let message = format!("failed to configure policy: {why}");
            error(policy, None, message)
        };
        let invocation = match policy.criteria.invocation(context, attributes) {
            Ok(Some(invocation)) => invocation,
            Ok(None) => continue,
            Err(status) => {
                errors.extend(policy_error(status.message));
                continue;
            }
        };
        if let Some(why) = unknown_kind(context, policy) {
            errors.extend(policy_error(why));
            continue;
        }
        for binding in bindings {
            match bound_params(context, policy, binding, &invocation, attributes).await? {
                Ok(params) => relevant.extend(params.into_iter().map(|params| Relevant {
                    policy,
                    binding,
                    invocation: invocation.clone(),
                    params,
                })),
                Err(Misconfigured::Policy(why)) => errors.extend(policy_error(why)),
                Err(Misconfigured::Binding(why)) => {
                    let message = format!("failed to configure binding: {why}");
                    errors.extend(error(policy, Some(binding), message));
                }
            }
        }
    }
    Ok(relevant)
}

/// Why a policy does not run for a binding.
enum Misconfigured {
    Policy(String),
    Binding(String),
}

/// The parameter objects with which a policy runs for a binding; empty when the binding does not
/// match the request. Kubernetes converts the object before it reads parameters, so that a failed
/// conversion is reported first.
async fn bound_params(
    context: &AdmissionContext,
    policy: &Policy,
    binding: &Binding,
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
) -> Result<Result<Vec<Params>, Misconfigured>, Status> {
    match is_bound(context, binding, attributes) {
        Ok(true) => {}
        Ok(false) => return Ok(Ok(Vec::new())),
        Err(why) => return Ok(Err(Misconfigured::Binding(why))),
    }
    if invocation.kind != attributes.kind {
        let requester = format!("MutatingAdmissionPolicy {:?}", policy.name);
        match objects(context, &requester, invocation, attributes).await {
            Ok(_) => {}
            Err(ConversionFailure::Unsupported(status)) => return Err(status),
            Err(ConversionFailure::Failed(why)) => return Ok(Err(Misconfigured::Policy(why))),
        }
    }
    let params = params(context, policy, binding, attributes).await?;
    Ok(params.map_err(Misconfigured::Binding))
}

/// Whether a binding matches a request. The error says how the binding is misconfigured.
pub(super) fn is_bound(
    context: &AdmissionContext,
    binding: &Binding,
    attributes: &AdmissionAttributes,
) -> Result<bool, String> {
    let Some(criteria) = &binding.criteria else {
        return Ok(true);
    };
    match criteria.invocation(context, attributes) {
        Ok(found) => Ok(found.is_some()),
        Err(status) => Err(status.message),
    }
}

/// The parameter objects of a binding. The inner error says how the binding is misconfigured.
pub(super) async fn params(
    context: &AdmissionContext,
    policy: &Policy,
    binding: &Binding,
    attributes: &AdmissionAttributes,
) -> Result<Result<Vec<Params>, String>, Status> {
    match collect(context, policy, binding, attributes).await {
        Ok(params) => Ok(Ok(params)),
        Err(ParamsFailure::Misconfigured(why)) => Ok(Err(why)),
        Err(ParamsFailure::Final(status)) => Err(status),
    }
}
