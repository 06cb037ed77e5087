//! Mutating policies.

use std::collections::BTreeSet;

use kubewright_core::Operation;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::compiled::{Mutation, Mutations};
use super::definition::{BoundPolicy, is_exempt};
use super::denial::{PolicyError, failed};
use super::input::{Input, namespace};
use super::invocations::{InvocationKey, Relevant, error, relevant};
use super::mutation::{NotMutated, conform, mutated};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{in_version, objects};
use crate::admission::round::Round;

/// The mutating policies over the rounds of one request.
#[derive(Debug)]
pub(in crate::admission) struct MutatingPolicies {
    policies: Vec<BoundPolicy>,
    memory: Memory,
}

/// What is known from one invocation to the next (`policyReinvokeContext`).
#[derive(Debug, Default)]
struct Memory {
    /// Carried out, and willing to be so again.
    invoked: BTreeSet<InvocationKey>,
    /// Those of them that a later change concerns.
    again: BTreeSet<InvocationKey>,
    /// What the last round left.
    output: Option<Value>,
}

impl Memory {
    fn note_change(&mut self) {
        self.again.append(&mut self.invoked);
    }
}

impl MutatingPolicies {
    pub(super) fn new(policies: Vec<BoundPolicy>) -> Self {
        Self {
            policies,
            memory: Memory::default(),
        }
    }

    /// Runs the policies for a request one after another; in the second round only those to
    /// reinvoke. Returns whether any wrote to the object: unlike a webhook, a policy is reinvoked
    /// after its own write, and after one without a change (`dispatchInvocations`).
    pub(in crate::admission) async fn run(
        &mut self,
        context: &AdmissionContext,
        attributes: &mut Attributes,
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
            if round == Round::Second && self.memory.output != attributes.object {
                self.memory.note_change();
            }
            let mut step = Step {
                context,
                namespace: namespace(context, attributes)?,
                round,
                memory: &mut self.memory,
                errors: &mut errors,
            };
            for policy in &relevant {
                is_written |= step.run(policy, attributes).await?;
            }
            if is_written {
                self.memory.note_change();
            }
            self.memory.output.clone_from(&attributes.object);
        }
        failed(attributes, &errors)?;
        Ok(is_written)
    }
}

/// One round over the policies that are about a request.
struct Step<'a> {
    context: &'a AdmissionContext,
    namespace: Value,
    round: Round,
    memory: &'a mut Memory,
    errors: &'a mut Vec<PolicyError>,
}

impl Step<'_> {
    /// Runs one policy. Returns whether it wrote to the object.
    async fn run(
        &mut self,
        relevant: &Relevant<'_>,
        attributes: &mut Attributes,
    ) -> Result<bool, Status> {
        let compiled = relevant.policy.mutations();
        if !self.is_met(relevant, compiled, attributes).await? {
            return Ok(false);
        }
        let key = relevant.key();
        if self.round == Round::Second && !self.memory.again.contains(&key) {
            return Ok(false);
        }
        let before = attributes.object.clone();
        let mut is_written = false;
        for mutation in &compiled.mutations {
            is_written |= self.mutate(relevant, mutation, attributes).await?;
        }
        if attributes.object != before {
            self.memory.note_change();
        }
        if relevant.policy.spec["reinvocationPolicy"] == "IfNeeded" {
            self.memory.invoked.insert(key);
        }
        Ok(is_written)
    }

    /// Whether the conditions of a policy hold.
    async fn is_met(
        &mut self,
        relevant: &Relevant<'_>,
        compiled: &Mutations,
        attributes: &Attributes,
    ) -> Result<bool, Status> {
        if compiled.conditions.is_empty() {
            return Ok(true);
        }
        let (object, old) = self.objects(relevant, attributes).await?;
        let input = Input {
            attributes,
            invocation: &relevant.invocation,
            object: object.as_ref(),
            old: old.as_ref(),
            namespace: &self.namespace,
            params: relevant.params.as_ref(),
        };
        let variables = input.for_conditions()?;
        let held = compiled.conditions.hold(&variables);
        Ok(held.unwrap_or_else(|why| {
            self.fail(relevant, why);
            false
        }))
    }

    /// Carries out one mutation.
    async fn mutate(
        &mut self,
        relevant: &Relevant<'_>,
        mutation: &Mutation,
        attributes: &mut Attributes,
    ) -> Result<bool, Status> {
        let (object, old) = self.objects(relevant, attributes).await?;
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
        let changed = mutated(mutation, compiled, input, &object);
        let Some(changed) = self.settle(relevant, changed)? else {
            return Ok(false);
        };
        let kind = &attributes.kind;
        let back = in_version(self.context, attributes, Some(&changed), kind).await?;
        let mut changed = back.unwrap_or(changed);
        let conformed = conform(mutation, &mut changed, attributes);
        if self.settle(relevant, conformed)?.is_none() {
            return Ok(false);
        }
        attributes.object = Some(changed);
        Ok(true)
    }

    /// What becomes of a failure: it is noted, or the request ends.
    fn settle<T>(
        &mut self,
        relevant: &Relevant<'_>,
        result: Result<T, NotMutated>,
    ) -> Result<Option<T>, Status> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(NotMutated::Final(status)) => Err(status),
            Err(NotMutated::Failed(why)) => {
                self.fail(relevant, why);
                Ok(None)
            }
        }
    }

    async fn objects(
        &self,
        relevant: &Relevant<'_>,
        attributes: &Attributes,
    ) -> Result<(Option<Value>, Option<Value>), Status> {
        let asker = format!("MutatingAdmissionPolicy {:?}", relevant.policy.name);
        let objects = objects(self.context, &asker, &relevant.invocation, attributes);
        objects.await.map_err(Status::from)
    }

    fn fail(&mut self, relevant: &Relevant<'_>, why: String) {
        let failure = error(relevant.policy, Some(relevant.binding), why);
        let failure = failure.map(|failure| PolicyError {
            is_invalid: true,
            ..failure
        });
        self.errors.extend(failure);
    }
}
