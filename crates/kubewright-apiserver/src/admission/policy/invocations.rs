use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::definition::{Binding, BoundPolicy, Policy};
use super::denial::PolicyError;
use super::params::{NoParams, collect, unknown_kind};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, NotConverted, objects};

/// A policy that is carried out because of a binding, with one of its params.
#[derive(Debug)]
pub(super) struct Relevant<'a> {
    pub(super) policy: &'a Policy,
    pub(super) binding: &'a Binding,
    pub(super) invocation: Invocation,
    pub(super) params: Option<Value>,
}

/// What tells an invocation from all others: policy, binding, and the params' namespace and name.
pub(super) type InvocationKey = [String; 4];

impl Relevant<'_> {
    pub(super) fn key(&self) -> InvocationKey {
        let metadata = self.params.as_ref().map(|params| &params["metadata"]);
        let text = |field: &str| {
            let text = metadata.and_then(|metadata| metadata[field].as_str());
            text.unwrap_or_default().to_owned()
        };
        [
            self.policy.name.clone(),
            self.binding.name.clone(),
            text("namespace"),
            text("name"),
        ]
    }
}

/// What went wrong with a policy, where it does not forgive that.
pub(super) fn error(
    policy: &Policy,
    binding: Option<&Binding>,
    message: String,
) -> Option<PolicyError> {
    let is_fault = policy.failure_policy == FailurePolicy::Fail;
    is_fault.then(|| PolicyError {
        policy: policy.name.clone(),
        binding: binding.map(|binding| binding.name.clone()),
        message,
        is_invalid: false,
    })
}

/// The policies that are about a request, with their bindings and params
/// (`policyDispatcher.Dispatch`).
pub(super) async fn relevant<'a>(
    context: &AdmissionContext,
    policies: &'a [BoundPolicy],
    attributes: &Attributes,
    errors: &mut Vec<PolicyError>,
) -> Result<Vec<Relevant<'a>>, Status> {
    let mut relevant = Vec::new();
    for BoundPolicy { policy, bindings } in policies {
        let policy: &Policy = policy;
        let of_policy = |why: String| {
            let message = format!("failed to configure policy: {why}");
            error(policy, None, message)
        };
        let invocation = match policy.criteria.invocation(context, attributes) {
            Ok(Some(invocation)) => invocation,
            Ok(None) => continue,
            Err(status) => {
                errors.extend(of_policy(status.message));
                continue;
            }
        };
        if let Some(why) = unknown_kind(context, policy) {
            errors.extend(of_policy(why));
            continue;
        }
        for binding in bindings {
            match bound(context, (policy, binding), &invocation, attributes).await? {
                Ok(params) => relevant.extend(params.into_iter().map(|params| Relevant {
                    policy,
                    binding,
                    invocation: invocation.clone(),
                    params,
                })),
                Err(Misconfigured::Policy(why)) => errors.extend(of_policy(why)),
                Err(Misconfigured::Binding(why)) => {
                    let message = format!("failed to configure binding: {why}");
                    errors.extend(error(policy, Some(binding), message));
                }
            }
        }
    }
    Ok(relevant)
}

/// Why a policy is not carried out because of a binding.
enum Misconfigured {
    Policy(String),
    Binding(String),
}

/// The params that a policy is carried out with because of a binding; none where the binding is
/// not about the request. The object must be had in the version of the policy before params are
/// looked for.
async fn bound(
    context: &AdmissionContext,
    (policy, binding): (&Policy, &Binding),
    invocation: &Invocation,
    attributes: &Attributes,
) -> Result<Result<Vec<Params>, Misconfigured>, Status> {
    match is_bound(context, binding, attributes) {
        Ok(true) => {}
        Ok(false) => return Ok(Ok(Vec::new())),
        Err(why) => return Ok(Err(Misconfigured::Binding(why))),
    }
    if invocation.kind != attributes.kind {
        let asker = format!("MutatingAdmissionPolicy {:?}", policy.name);
        match objects(context, &asker, invocation, attributes).await {
            Ok(_) => {}
            Err(NotConverted::Lacking(status)) => return Err(status),
            Err(NotConverted::Failed(why)) => return Ok(Err(Misconfigured::Policy(why))),
        }
    }
    let params = params(context, (policy, binding), attributes).await?;
    Ok(params.map_err(Misconfigured::Binding))
}

/// What one invocation of a policy is given; none where policy or binding ask for nothing.
pub(super) type Params = Option<Value>;

/// Whether a binding is about a request; the error is what is wrong with it.
pub(super) fn is_bound(
    context: &AdmissionContext,
    binding: &Binding,
    attributes: &Attributes,
) -> Result<bool, String> {
    let Some(criteria) = &binding.criteria else {
        return Ok(true);
    };
    match criteria.invocation(context, attributes) {
        Ok(found) => Ok(found.is_some()),
        Err(status) => Err(status.message),
    }
}

/// The params of a binding; the inner error is what is wrong with it.
pub(super) async fn params(
    context: &AdmissionContext,
    (policy, binding): (&Policy, &Binding),
    attributes: &Attributes,
) -> Result<Result<Vec<Params>, String>, Status> {
    match collect(context, policy, binding, attributes).await {
        Ok(params) => Ok(Ok(params)),
        Err(NoParams::Misconfigured(why)) => Ok(Err(why)),
        Err(NoParams::Final(status)) => Err(status),
    }
}
