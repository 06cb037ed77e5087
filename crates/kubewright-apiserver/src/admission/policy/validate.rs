//! Validating policies.

use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::compiled::Validations;
use super::definition::{Binding, BoundPolicy, Policy, is_exempt};
use super::denial::denied;
use super::input::{Input, namespace};
use super::invocations::{is_bound, params};
use super::params::unknown_kind;
use super::verdict::{Failure, Verdict, judge};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, NotConverted, objects};
use crate::warnings::Warnings;

/// A refusal, by a policy and a binding, or by a policy alone.
type Denial<'a> = (&'a Policy, Option<&'a Binding>, Failure);

/// Asks the validating policies, all of them; the first that refuses is heard
/// (`dispatcher.Dispatch` of `policy/validating`).
pub(super) async fn validate(
    context: &AdmissionContext,
    policies: &[BoundPolicy],
    attributes: &Attributes,
    warnings: &Warnings,
) -> Result<(), Status> {
    if is_exempt(attributes) {
        return Ok(());
    }
    let mut denials: Vec<Denial<'_>> = Vec::new();
    for policy in policies {
        denials.extend(evaluate(context, policy, attributes, warnings).await?);
    }
    match denials.first() {
        None => Ok(()),
        Some((policy, binding, failure)) => {
            let by = (policy.name.as_str(), binding.map(|one| one.name.as_str()));
            let reason = failure.reason.as_deref();
            Err(denied(attributes, by, &failure.message, reason))
        }
    }
}

/// Asks one policy with each of its bindings.
async fn evaluate<'a>(
    context: &AdmissionContext,
    bound: &'a BoundPolicy,
    attributes: &Attributes,
    warnings: &Warnings,
) -> Result<Vec<Denial<'a>>, Status> {
    let policy: &Policy = &bound.policy;
    let invocation = match policy.criteria.invocation(context, attributes) {
        Ok(Some(invocation)) => invocation,
        Ok(None) => return Ok(Vec::new()),
        Err(status) => return Ok(misconfigured(policy, None, &status.message)),
    };
    if let Some(why) = unknown_kind(context, policy) {
        return Ok(misconfigured(policy, None, &why));
    }
    let compiled = policy.validations();
    let mut denials = Vec::new();
    for binding in &bound.bindings {
        let asked = Asked {
            context,
            policy,
            binding,
            compiled,
            attributes,
            invocation: &invocation,
        };
        let verdicts = match asked.verdicts().await? {
            Ok(verdicts) => verdicts,
            Err(why) => {
                denials.extend(misconfigured(policy, Some(binding), &why));
                continue;
            }
        };
        for verdict in verdicts {
            denials.extend(asked.act(verdict, warnings));
        }
    }
    Ok(denials)
}

/// What is wrong with a policy or a binding refuses the request, unless the policy forgives it.
fn misconfigured<'a>(
    policy: &'a Policy,
    binding: Option<&'a Binding>,
    why: &str,
) -> Vec<Denial<'a>> {
    if policy.failure_policy == FailurePolicy::Ignore {
        return Vec::new();
    }
    let what = match binding {
        Some(_) => "binding",
        None => "policy",
    };
    let failure = Failure {
        message: format!("failed to configure {what}: {why}"),
        reason: None,
    };
    vec![(policy, binding, failure)]
}

/// A policy that is asked about a request because of a binding.
struct Asked<'a, 'r> {
    context: &'r AdmissionContext,
    policy: &'a Policy,
    binding: &'a Binding,
    compiled: &'r Validations,
    attributes: &'r Attributes,
    invocation: &'r Invocation,
}

impl<'a> Asked<'a, '_> {
    /// What the policy says with each of the params; the inner error is what is wrong with the
    /// binding.
    async fn verdicts(&self) -> Result<Result<Vec<Verdict>, String>, Status> {
        match is_bound(self.context, self.binding, self.attributes) {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(Vec::new())),
            Err(why) => return Ok(Err(why)),
        }
        let by = (self.policy, self.binding);
        let params = match params(self.context, by, self.attributes).await? {
            Ok(params) => params,
            Err(why) => return Ok(Err(why)),
        };
        let namespace = namespace(self.context, self.attributes)?;
        if params.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let asker = format!("ValidatingAdmissionPolicy {:?}", self.policy.name);
        let (invocation, attributes) = (self.invocation, self.attributes);
        let objects = match objects(self.context, &asker, invocation, attributes).await {
            Ok(objects) => objects,
            Err(NotConverted::Lacking(status)) => return Err(status),
            Err(NotConverted::Failed(why)) => {
                return Ok(Err(format!("failed to convert object version: {why}")));
            }
        };
        let verdicts = params
            .iter()
            .map(|params| self.verdict(&objects, &namespace, params.as_ref()));
        verdicts.collect::<Result<_, Status>>().map(Ok)
    }

    fn verdict(
        &self,
        (object, old): &(Option<Value>, Option<Value>),
        namespace: &Value,
        params: Option<&Value>,
    ) -> Result<Verdict, Status> {
        let input = Input {
            attributes: self.attributes,
            invocation: self.invocation,
            object: object.as_ref(),
            old: old.as_ref(),
            namespace,
            params,
        };
        judge(self.policy, self.compiled, input)
    }

    /// What the actions of the binding make of a verdict. `Audit` leaves nothing here: there is no
    /// audit log.
    fn act(&self, verdict: Verdict, warnings: &Warnings) -> Vec<Denial<'a>> {
        let has = |action: &str| self.binding.actions.iter().any(|one| one == action);
        let mut denials = Vec::new();
        if has("Warn") {
            let (policy, binding) = (&self.policy.name, &self.binding.name);
            warnings.add(verdict.failures.iter().map(|failure| {
                format!(
                    "Validation failed for ValidatingAdmissionPolicy '{policy}' with binding \
                     '{binding}': {}",
                    failure.message
                )
            }));
        }
        if has("Deny") {
            denials.extend(verdict.failures);
        }
        denials.extend(verdict.denials);
        let denials = denials.into_iter();
        denials
            .map(|failure| (self.policy, Some(self.binding), failure))
            .collect()
    }
}
