use std::collections::BTreeSet;
use std::sync::Arc;

use kubewright_core::{Reinvocation, WebhookKind};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::ask::{Refusal, ask, settle};
use super::asked::asked_in;
use super::configuration::{Hook, hooks};
use super::patch::{PatchFailure, patched};
use crate::admission::matching::{Attributes, Invocation, in_version};
use crate::admission::reinvoke::{Change, Round};
use crate::request::Warnings;
use crate::server::Server;

/// The mutating webhooks over the rounds of one request.
#[derive(Debug)]
pub(crate) struct MutatingHooks {
    configurations: Vec<Arc<Vec<Hook>>>,
    /// Asked, and willing to be asked again.
    asked: BTreeSet<(String, usize)>,
    /// Those of them that a later change concerns.
    again: BTreeSet<(String, usize)>,
    /// What the last round left.
    output: Option<Value>,
}

impl MutatingHooks {
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            configurations: hooks(server, WebhookKind::Mutating),
            asked: BTreeSet::new(),
            again: BTreeSet::new(),
            output: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.configurations.iter().all(|hooks| hooks.is_empty())
    }

    /// Lets the webhooks change the object of a request, one after another; in the second round
    /// only those that ask for it and came before a change. Says whether any changed it.
    pub(crate) async fn round(
        &mut self,
        server: &Server,
        attributes: &mut Attributes,
        warnings: &Warnings,
        (round, conform): (Round, Change<'_>),
    ) -> Result<bool, Status> {
        if round == Round::Second && self.output != attributes.object {
            self.again.append(&mut self.asked);
        }
        let mut is_changed = false;
        for hook in self.configurations.iter().flat_map(|hooks| hooks.iter()) {
            let Some(invocation) = asked_in(server, hook, attributes).await? else {
                continue;
            };
            if round == Round::Second && !self.again.contains(&hook.id) {
                continue;
            }
            let changed = change(server, hook, &invocation, attributes, (warnings, conform)).await;
            if settle(hook, changed)?.unwrap_or(false) {
                is_changed = true;
                self.again.append(&mut self.asked);
            }
            if hook.reinvocation == Reinvocation::IfNeeded {
                self.asked.insert(hook.id.clone());
            }
        }
        self.output.clone_from(&attributes.object);
        Ok(is_changed)
    }
}

/// Asks a mutating webhook and applies its patch; says whether that changed anything.
async fn change(
    server: &Server,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &mut Attributes,
    (warnings, conform): (&Warnings, Change<'_>),
) -> Result<bool, Refusal> {
    let kind = WebhookKind::Mutating;
    let response = ask(server, (hook, kind), invocation, attributes, warnings).await?;
    let patch = response.patch.unwrap_or_default().0;
    if patch.is_empty() {
        return Ok(false);
    }
    if response
        .patch_type
        .as_deref()
        .is_some_and(|kind| kind != "JSONPatch")
    {
        let kind = response.patch_type.unwrap_or_default();
        return Err(Refusal::Call(format!("unsupported patch type {kind:?}")));
    }
    let Some(object) = &attributes.object else {
        return Err(Refusal::Final(Status::internal(format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for \
             this operation",
            hook.name
        ))));
    };
    let sent = in_version(server, attributes, Some(object), &invocation.kind)
        .await
        .map_err(|why| Refusal::Final(why.into()))?;
    let patched =
        patched(sent.as_ref().unwrap_or(object), &patch).map_err(|failure| match failure {
            PatchFailure::Undecodable(why) => Refusal::Call(format!(
                "received undecodable patch in webhook response: {why}"
            )),
            PatchFailure::Inapplicable(why) => Refusal::Final(Status::internal(why)),
        })?;
    let Some(patched) = patched else {
        return Ok(false);
    };
    let back = in_version(server, attributes, Some(&patched), &attributes.kind)
        .await
        .map_err(|why| Refusal::Final(why.into()))?;
    let mut patched = back.unwrap_or(patched);
    conform(&mut patched).map_err(|status| Refusal::Final(Status::internal(status.message)))?;
    let changed = *object != patched;
    attributes.object = Some(patched);
    Ok(changed)
}
