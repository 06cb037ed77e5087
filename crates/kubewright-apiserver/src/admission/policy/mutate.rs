use std::collections::BTreeSet;

use kubewright_core::{Operation, WebhookKind};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::compiled::Mutations;
use super::denial::{PolicyError, failed};
use super::input::{Input, namespace};
use super::invocations::{InvocationKey, Relevant, error, relevant};
use super::mutation::{NotMutated, conform, mutated};
use super::stored::{Hook, hooks, is_exempt};
use crate::admission::matching::{Attributes, in_version, objects};
use crate::admission::reinvoke::{Between, Round};
use crate::server::Server;

/// The mutating policies over the rounds of one request.
#[derive(Debug)]
pub(crate) struct MutatingPolicies {
    hooks: Vec<Hook>,
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
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            hooks: hooks(server, WebhookKind::Mutating),
            memory: Memory::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Lets the policies change the object of a request, one after another; in the second round
    /// only those that ask for it and came before a change. Says whether any wrote to it: unlike
    /// a webhook, a policy concerns itself with its own change, and with one that is none
    /// (`dispatchInvocations`).
    pub(crate) async fn round(
        &mut self,
        server: &Server,
        attributes: &mut Attributes,
        (round, between): (Round, Between<'_>),
    ) -> Result<bool, Status> {
        let is_about = attributes.operation != Operation::Delete && !is_exempt(attributes);
        if self.hooks.is_empty() || !is_about {
            return Ok(false);
        }
        let mut errors = Vec::new();
        let relevant = relevant(server, &self.hooks, attributes, &mut errors).await?;
        let mut is_written = false;
        if !relevant.is_empty() {
            if round == Round::Second && self.memory.output != attributes.object {
                self.memory.note_change();
            }
            let mut step = Step {
                server,
                namespace: namespace(server, attributes)?,
                round,
                between,
                memory: &mut self.memory,
                errors: &mut errors,
            };
            for one in &relevant {
                is_written |= step.carry_out(one, attributes).await?;
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
    server: &'a Server,
    namespace: Value,
    round: Round,
    between: Between<'a>,
    memory: &'a mut Memory,
    errors: &'a mut Vec<PolicyError>,
}

impl Step<'_> {
    /// Carries out one policy; says whether it wrote to the object.
    async fn carry_out(
        &mut self,
        one: &Relevant<'_>,
        attributes: &mut Attributes,
    ) -> Result<bool, Status> {
        let compiled = one.policy.mutations();
        if !self.is_met(one, compiled, attributes).await? {
            return Ok(false);
        }
        let key = one.key();
        if self.round == Round::Second && !self.memory.again.contains(&key) {
            return Ok(false);
        }
        let before = attributes.object.clone();
        let mut is_written = false;
        for place in 0..compiled.mutations.len() {
            is_written |= self.mutate(one, (compiled, place), attributes).await?;
        }
        if attributes.object != before {
            self.memory.note_change();
        }
        if one.policy.spec["reinvocationPolicy"] == "IfNeeded" {
            self.memory.invoked.insert(key);
        }
        Ok(is_written)
    }

    /// Whether the conditions of a policy hold.
    async fn is_met(
        &mut self,
        one: &Relevant<'_>,
        compiled: &Mutations,
        attributes: &Attributes,
    ) -> Result<bool, Status> {
        if compiled.conditions.is_empty() {
            return Ok(true);
        }
        let (object, old) = self.objects(one, attributes).await?;
        let input = Input {
            attributes,
            invocation: &one.invocation,
            object: object.as_ref(),
            old: old.as_ref(),
            namespace: &self.namespace,
            params: one.params.as_ref(),
        };
        let variables = input.for_conditions()?;
        let held = compiled.conditions.hold(&variables);
        Ok(held.unwrap_or_else(|why| {
            self.fail(one, why);
            false
        }))
    }

    /// Carries out one mutation.
    async fn mutate(
        &mut self,
        one: &Relevant<'_>,
        (compiled, place): (&Mutations, usize),
        attributes: &mut Attributes,
    ) -> Result<bool, Status> {
        let (object, old) = self.objects(one, attributes).await?;
        let (Some(object), Some(mutation)) = (object, compiled.mutations.get(place)) else {
            return Ok(false);
        };
        let input = Input {
            attributes,
            invocation: &one.invocation,
            object: Some(&object),
            old: old.as_ref(),
            namespace: &self.namespace,
            params: one.params.as_ref(),
        };
        let changed = mutated(mutation, compiled, (input, &object));
        let Some(changed) = self.settle(one, changed)? else {
            return Ok(false);
        };
        let kind = &attributes.kind;
        let back = in_version(self.server, attributes, Some(&changed), kind).await?;
        let mut changed = back.unwrap_or(changed);
        let conformed = conform(mutation, &mut changed, self.between);
        if self.settle(one, conformed)?.is_none() {
            return Ok(false);
        }
        attributes.object = Some(changed);
        Ok(true)
    }

    /// What becomes of a failure: it is noted, or the request ends.
    fn settle<T>(
        &mut self,
        one: &Relevant<'_>,
        result: Result<T, NotMutated>,
    ) -> Result<Option<T>, Status> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(NotMutated::Final(status)) => Err(status),
            Err(NotMutated::Failed(why)) => {
                self.fail(one, why);
                Ok(None)
            }
        }
    }

    async fn objects(
        &self,
        one: &Relevant<'_>,
        attributes: &Attributes,
    ) -> Result<(Option<Value>, Option<Value>), Status> {
        let asker = format!("MutatingAdmissionPolicy {:?}", one.policy.name);
        let objects = objects(self.server, &asker, &one.invocation, attributes);
        objects.await.map_err(Status::from)
    }

    fn fail(&mut self, one: &Relevant<'_>, why: String) {
        let failure = error(one.policy, Some(one.binding), why);
        let failure = failure.map(|failure| PolicyError {
            is_invalid: true,
            ..failure
        });
        self.errors.extend(failure);
    }
}
