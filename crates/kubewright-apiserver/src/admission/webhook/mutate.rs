//! Calls mutating webhooks.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubewright_core::Reinvocation;
use kubewright_wire::review::AdmissionResponse;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::hook::Hook;
use super::invoke::{InvokeError, apply_failure_policy, invoke};
use super::patch::{PatchFailure, patched};
use super::relevant::invocation;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, in_version};
use crate::admission::round::Round;
use crate::warnings::Warnings;

/// The mutating webhooks over the rounds of one request.
#[derive(Debug)]
pub(in crate::admission) struct MutatingWebhooks {
    configurations: Vec<Arc<Vec<Hook>>>,
    /// Called, with `reinvocationPolicy: IfNeeded`.
    called: BTreeSet<(String, usize)>,
    /// Those of them that were called before a later change, and are called again in the second
    /// round.
    reinvoked: BTreeSet<(String, usize)>,
    /// The object after the last round.
    output: Option<Value>,
}

impl MutatingWebhooks {
    pub(super) fn new(configurations: Vec<Arc<Vec<Hook>>>) -> Self {
        Self {
            configurations,
            called: BTreeSet::new(),
            reinvoked: BTreeSet::new(),
            output: None,
        }
    }

    /// Calls the webhooks for a request one after another; in the second round only those to
    /// reinvoke. Returns whether any changed the object.
    pub(in crate::admission) async fn run(
        &mut self,
        context: &AdmissionContext,
        attributes: &mut AdmissionAttributes,
        warnings: &Warnings,
        round: Round,
    ) -> Result<bool, Status> {
        if round == Round::Second && self.output != attributes.object {
            self.reinvoked.append(&mut self.called);
        }
        let mut is_changed = false;
        for hook in self.configurations.iter().flat_map(|hooks| hooks.iter()) {
            let Some(invocation) = invocation(context, hook, attributes).await? else {
                continue;
            };
            if round == Round::Second && !self.reinvoked.contains(&hook.id) {
                continue;
            }
            let changed = mutate(context, hook, &invocation, attributes, warnings).await;
            if apply_failure_policy(hook, changed)?.unwrap_or(false) {
                is_changed = true;
                self.reinvoked.append(&mut self.called);
            }
            if hook.reinvocation == Reinvocation::IfNeeded {
                self.called.insert(hook.id.clone());
            }
        }
        self.output.clone_from(&attributes.object);
        Ok(is_changed)
    }
}

/// Calls a mutating webhook and applies its patch. Returns whether the object changed.
async fn mutate(
    context: &AdmissionContext,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &mut AdmissionAttributes,
    warnings: &Warnings,
) -> Result<bool, InvokeError> {
    let response = invoke(context, hook, invocation, attributes, warnings).await?;
    let patch = checked_patch(response)?;
    if patch.is_empty() {
        return Ok(false);
    }
    let Some(object) = &attributes.object else {
        return Err(InvokeError::Final(Status::internal(format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for \
             this operation",
            hook.name
        ))));
    };
    let sent = in_version(context, attributes, Some(object), &invocation.kind)
        .await
        .map_err(|failure| InvokeError::Final(failure.into()))?;
    let patched =
        patched(sent.as_ref().unwrap_or(object), &patch).map_err(|failure| match failure {
            PatchFailure::Undecodable(why) => InvokeError::Call(format!(
                "received undecodable patch in webhook response: {why}"
            )),
            PatchFailure::Inapplicable(why) => InvokeError::Final(Status::internal(why)),
        })?;
    let Some(patched) = patched else {
        return Ok(false);
    };
    let converted = in_version(context, attributes, Some(&patched), &attributes.kind)
        .await
        .map_err(|failure| InvokeError::Final(failure.into()))?;
    let mut changed = converted.unwrap_or(patched);
    attributes
        .resource
        .conform_patched(&mut changed, &attributes.kind)
        .map_err(|status| InvokeError::Final(Status::internal(status.message)))?;
    let is_changed = *object != changed;
    attributes.object = Some(changed);
    Ok(is_changed)
}

/// The patch of a response; empty if it has none.
fn checked_patch(response: AdmissionResponse) -> Result<Vec<u8>, InvokeError> {
    let patch = response.patch.unwrap_or_default().0;
    match response.patch_type {
        Some(kind) if !patch.is_empty() && kind != "JSONPatch" => Err(InvokeError::Call(format!(
            "unsupported patch type {kind:?}"
        ))),
        _ => Ok(patch),
    }
}
