//! Runs validating policies.

use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::compiled::Validations;
use super::definition::{Binding, BoundPolicy, Policy, is_exempt};
use super::denial::Denial;
use super::input::{Input, namespace};
use super::invocations::{is_bound, params};
use super::params::unknown_kind;
use super::verdict::{Failure, Verdict};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{ConversionFailure, Invocation, VersionedObjects, objects};
use crate::warnings::Warnings;

/// Evaluates all validating policies. The first denial fails the request (`dispatcher.Dispatch` of
/// `policy/validating`).
pub(super) async fn validate(
    context: &AdmissionContext,
    policies: &[BoundPolicy],
    attributes: &AdmissionAttributes,
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
        Some(denial) => Err(denial.status(attributes)),
    }
}

/// Evaluates a policy for each of its bindings.
async fn evaluate<'a>(
    context: &AdmissionContext,
    bound: &'a BoundPolicy,
    attributes: &AdmissionAttributes,
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
        let evaluation = Evaluation {
            context,
            policy,
            binding,
            compiled,
            attributes,
            invocation: &invocation,
        };
        let verdicts = match evaluation.verdicts().await? {
            Ok(verdicts) => verdicts,
            Err(why) => {
                denials.extend(misconfigured(policy, Some(binding), &why));
                continue;
            }
        };
        for verdict in verdicts {
            denials.extend(evaluation.act(verdict, warnings));
        }
    }
    Ok(denials)
}

/// The denial because of a misconfigured policy or binding; none if the failure policy is Ignore.
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
    vec![Denial {
        policy,
        binding,
        failure,
    }]
}

/// The evaluation of a policy for a request and a binding.
struct Evaluation<'a, 'r> {
    context: &'r AdmissionContext,
    policy: &'a Policy,
    binding: &'a Binding,
    compiled: &'r Validations,
    attributes: &'r AdmissionAttributes,
    invocation: &'r Invocation,
}

impl<'a> Evaluation<'a, '_> {
    /// The verdict with each of the parameter objects. The inner error says how the binding is
    /// misconfigured.
    async fn verdicts(&self) -> Result<Result<Vec<Verdict>, String>, Status> {
        let (context, attributes) = (self.context, self.attributes);
        match is_bound(context, self.binding, attributes) {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(Vec::new())),
            Err(why) => return Ok(Err(why)),
        }
        let params = match params(context, self.policy, self.binding, attributes).await? {
            Ok(params) => params,
            Err(why) => return Ok(Err(why)),
        };
        let namespace = namespace(context, attributes)?;
        if params.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let requester = format!("ValidatingAdmissionPolicy {:?}", self.policy.name);
        let objects = match objects(context, &requester, self.invocation, attributes).await {
            Ok(objects) => objects,
            Err(ConversionFailure::Unsupported(status)) => return Err(status),
            Err(ConversionFailure::Failed(why)) => {
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
        objects: &VersionedObjects,
        namespace: &Value,
        params: Option<&Value>,
    ) -> Result<Verdict, Status> {
        let input = Input {
            attributes: self.attributes,
            invocation: self.invocation,
            object: objects.object.as_ref(),
            old: objects.old.as_ref(),
            namespace,
            params,
        };
        Verdict::evaluate(self.policy, self.compiled, input)
    }

    /// Applies the actions of the binding to a verdict. `Audit` has no effect: there is no audit
    /// log.
    fn act(&self, verdict: Verdict, warnings: &Warnings) -> Vec<Denial<'a>> {
        let has = |wanted: &str| self.binding.actions.iter().any(|action| action == wanted);
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
        let mut failures = Vec::new();
        if has("Deny") {
            failures.extend(verdict.failures);
        }
        failures.extend(verdict.denials);
        let denials = failures.into_iter().map(|failure| Denial {
            policy: self.policy,
            binding: Some(self.binding),
            failure,
        });
        denials.collect()
    }
}
