//! Runs mutating policies.

use std::collections::BTreeSet;

use kubewright_core::Operation;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::compiled::{Mutation, Mutations};
use super::definition::{BoundPolicy, is_exempt};
use super::denial::{PolicyError, check_errors};
use super::input::{Input, namespace};
use super::invocations::{InvocationKey, Relevant, error, relevant};
use super::mutation::{MutationFailure, conform, mutated};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{VersionedObjects, in_version, objects};
use crate::admission::round::Round;

/// The mutating policies over the rounds of one request.
#[derive(Debug)]
pub(in crate::admission) struct MutatingPolicies {
    policies: Vec<BoundPolicy>,
    reinvocation: Reinvocation,
}

/// Which policies run again in the second round (`policyReinvokeContext`).
#[derive(Debug, Default)]
struct Reinvocation {
    /// Have run, with `reinvocationPolicy: IfNeeded`.
    invoked: BTreeSet<InvocationKey>,
    /// Those of them that ran before a later change.
    reinvoked: BTreeSet<InvocationKey>,
    /// The object after the last round.
    output: Option<Value>,
}

impl Reinvocation {
    fn note_change(&mut self) {
        self.reinvoked.append(&mut self.invoked);
    }
}

impl MutatingPolicies {
    pub(super) fn new(policies: Vec<BoundPolicy>) -> Self {
        Self {
            policies,
            reinvocation: Reinvocation::default(),
        }
    }

    /// Runs the policies for a request one after another; in the second round only those to
    /// reinvoke. Returns whether any wrote to the object: unlike a webhook, a policy is reinvoked
    /// after its own write, and after one without a change (`dispatchInvocations`).
    pub(in crate::admission) async fn run(
        &mut self,
        context: &AdmissionContext,
        attributes: &mut AdmissionAttributes,
        round: Round,
    ) -> Result<bool, Status> {
        let is_relevant = attributes.operation != Operation::Delete && !is_exempt(attributes);
        if self.policies.is_empty() || !is_relevant {
            return Ok(false);
        }
        let mut errors = Vec::new();
        let relevant = relevant(context, &self.policies, attributes, &mut errors).await?;
        let mut is_written = false;
        if !relevant.is_empty() {
            if round == Round::Second && self.reinvocation.output != attributes.object {
                self.reinvocation.note_change();
            }
            let mut runner = PolicyRunner {
                context,
                namespace: namespace(context, attributes)?,
                round,
                reinvocation: &mut self.reinvocation,
                errors: &mut errors,
            };
            for policy in &relevant {
                is_written |= runner.run(policy, attributes).await?;
            }
            if is_written {
                self.reinvocation.note_change();
            }
            self.reinvocation.output.clone_from(&attributes.object);
        }
        check_errors(attributes, &errors)?;
        Ok(is_written)
    }
}

/// Runs the policies that match a request, for one round.
struct PolicyRunner<'a> {
    context: &'a AdmissionContext,
    namespace: Value,
    round: Round,
    reinvocation: &'a mut Reinvocation,
    errors: &'a mut Vec<PolicyError>,
}

impl PolicyRunner<'_> {
    /// Runs one policy. Returns whether it wrote to the object.
    async fn run(
        &mut self,
        relevant: &Relevant<'_>,
        attributes: &mut AdmissionAttributes,
    ) -> Result<bool, Status> {
        let compiled = relevant.policy.mutations();
        if !self.conditions_hold(relevant, compiled, attributes).await? {
            return Ok(false);
        }
        let key = relevant.key();
        if self.round == Round::Second && !self.reinvocation.reinvoked.contains(&key) {
            return Ok(false);
        }
        let before = attributes.object.clone();
        let mut is_written = false;
        for mutation in &compiled.mutations {
            is_written |= self.mutate(relevant, mutation, attributes).await?;
        }
        if attributes.object != before {
            self.reinvocation.note_change();
        }
        if relevant.policy.spec["reinvocationPolicy"] == "IfNeeded" {
            self.reinvocation.invoked.insert(key);
        }
        Ok(is_written)
    }

    /// Whether the match conditions of a policy are true.
    async fn conditions_hold(
        &mut self,
        relevant: &Relevant<'_>,
        compiled: &Mutations,
        attributes: &AdmissionAttributes,
    ) -> Result<bool, Status> {
        if compiled.conditions.is_empty() {
            return Ok(true);
        }
        let objects = self.objects(relevant, attributes).await?;
        let input = Input {
            attributes,
            invocation: &relevant.invocation,
            object: objects.object.as_ref(),
            old: objects.old.as_ref(),
            namespace: &self.namespace,
            params: relevant.params.as_ref(),
        };
        let variables = input.for_conditions()?;
        match compiled.conditions.hold(&variables) {
            Ok(holds) => Ok(holds),
            Err(why) => {
                self.add_error(relevant, why);
                Ok(false)
            }
        }
    }

    /// Applies one mutation. Returns whether it wrote to the object.
    async fn mutate(
        &mut self,
        relevant: &Relevant<'_>,
        mutation: &Mutation,
        attributes: &mut AdmissionAttributes,
    ) -> Result<bool, Status> {
        let VersionedObjects { object, old } = self.objects(relevant, attributes).await?;
        let Some(object) = object else {
            return Ok(false);
        };
        let input = Input {
            attributes,
            invocation: &relevant.invocation,
            object: Some(&object),
            old: old.as_ref(),
            namespace: &self.namespace,
            params: relevant.params.as_ref(),
        };
        let compiled = relevant.policy.mutations();
        let result = mutated(mutation, compiled, input, &object);
        let Some(changed) = self.apply_failure_policy(relevant, result)? else {
            return Ok(false);
        };
        let kind = &attributes.kind;
        let converted = in_version(self.context, attributes, Some(&changed), kind).await?;
        let mut object = converted.unwrap_or(changed);
        let conformed = conform(mutation, &mut object, attributes);
        if self.apply_failure_policy(relevant, conformed)?.is_none() {
            return Ok(false);
        }
        attributes.object = Some(object);
        Ok(true)
    }

    /// Records the error of a failed mutation, or fails the request.
    fn apply_failure_policy<T>(
        &mut self,
        relevant: &Relevant<'_>,
        result: Result<T, MutationFailure>,
    ) -> Result<Option<T>, Status> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(MutationFailure::Final(status)) => Err(status),
            Err(MutationFailure::Failed(why)) => {
                self.add_error(relevant, why);
                Ok(None)
            }
        }
    }

    async fn objects(
        &self,
        relevant: &Relevant<'_>,
        attributes: &AdmissionAttributes,
    ) -> Result<VersionedObjects, Status> {
        let requester = format!("MutatingAdmissionPolicy {:?}", relevant.policy.name);
        let objects = objects(self.context, &requester, &relevant.invocation, attributes);
        objects.await.map_err(Status::from)
    }

    fn add_error(&mut self, relevant: &Relevant<'_>, why: String) {
        let error = error(relevant.policy, Some(relevant.binding), why);
        self.errors.extend(error.map(|error| PolicyError {
            is_invalid: true,
            ..error
        }));
    }
}
