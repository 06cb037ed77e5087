use std::collections::BTreeSet;

use futures_util::future::join_all;
use kubewright_core::{FailurePolicy, Reinvocation, WebhookKind};
use kubewright_wire::review::AdmissionResponse;
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::Value;

use super::Attributes;
use super::call::call;
use super::configuration::{Hook, hooks};
use super::matching::{Invocation, invocation};
use super::patch::{PatchFailure, patched};
use super::review::{question, rejection, verify};
use crate::server::Server;

/// Makes a patched object conform to its kind again: what it does not have goes, defaults come.
pub(crate) type Conform<'a> = &'a (dyn Fn(&mut Value) -> Result<(), Status> + Send + Sync);

/// Why a webhook did not let a request pass.
enum Refusal {
    /// It could not be asked, or its answer is none: what its failure policy is for.
    Call(String),
    /// It said no, or broke what it changed.
    Final(Status),
}

/// Lets the mutating webhooks change the object of a request, one after another; then once more
/// those that ask for it, when a later one changed something.
pub(crate) async fn mutate(
    server: &Server,
    attributes: &mut Attributes,
    warnings: &Mutex<Vec<String>>,
    conform: Conform<'_>,
) -> Result<(), Status> {
    let hooks = hooks(&server.store().snapshot(), WebhookKind::Mutating);
    if hooks.is_empty() {
        return Ok(());
    }
    // Asked and willing to be asked again; those of them that a later change concerns.
    let (mut asked, mut again) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..2 {
        for hook in &hooks {
            let Some(invocation) = invocation(server, hook, attributes)? else {
                continue;
            };
            if round == 1 && !again.contains(&hook.id) {
                continue;
            }
            let changed = change(server, hook, &invocation, attributes, (warnings, conform)).await;
            let changed = settle(hook, changed)?.unwrap_or(false);
            if changed {
                again.append(&mut asked);
            }
            if hook.reinvocation == Reinvocation::IfNeeded {
                asked.insert(hook.id.clone());
            }
        }
        if again.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// Asks the validating webhooks, all at once; the first that says no is heard.
pub(crate) async fn validate(
    server: &Server,
    attributes: &Attributes,
    warnings: &Mutex<Vec<String>>,
) -> Result<(), Status> {
    let hooks = hooks(&server.store().snapshot(), WebhookKind::Validating);
    let mut relevant = Vec::new();
    for hook in &hooks {
        if let Some(invocation) = invocation(server, hook, attributes)? {
            relevant.push((hook, invocation));
        }
    }
    let asked = relevant.iter().map(async |(hook, invocation)| {
        let kind = WebhookKind::Validating;
        let answer = ask(server, (hook, kind), invocation, attributes, warnings).await;
        settle(hook, answer).map(drop)
    });
    join_all(asked).await.into_iter().collect()
}

/// What becomes of a failure: the request goes on without this webhook, or it ends.
fn settle<T>(hook: &Hook, result: Result<T, Refusal>) -> Result<Option<T>, Status> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Refusal::Final(status)) => Err(status),
        Err(Refusal::Call(why)) if hook.failure_policy == FailurePolicy::Ignore => {
            tracing::warn!(webhook = hook.name, why, "go on without the webhook");
            Ok(None)
        }
        Err(Refusal::Call(why)) => Err(Status::internal(format!(
            "failed calling webhook {:?}: {why}",
            hook.name
        ))),
    }
}

/// Asks a mutating webhook and applies its patch; says whether that changed anything.
async fn change(
    server: &Server,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &mut Attributes,
    (warnings, conform): (&Mutex<Vec<String>>, Conform<'_>),
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
    let patched = patched(object, &patch).map_err(|failure| match failure {
        PatchFailure::Undecodable(why) => Refusal::Call(format!(
            "received undecodable patch in webhook response: {why}"
        )),
        PatchFailure::Inapplicable(why) => Refusal::Final(Status::internal(why)),
    })?;
    let Some(mut patched) = patched else {
        return Ok(false);
    };
    if invocation.kind != attributes.kind {
        patched["apiVersion"] = attributes.kind.api_version().into();
    }
    conform(&mut patched).map_err(|status| Refusal::Final(Status::internal(status.message)))?;
    let changed = *object != patched;
    attributes.object = Some(patched);
    Ok(changed)
}

/// Asks a webhook; an answer that lets the request pass comes back.
async fn ask(
    server: &Server,
    (hook, kind): (&Hook, WebhookKind),
    invocation: &Invocation,
    attributes: &Attributes,
    warnings: &Mutex<Vec<String>>,
) -> Result<AdmissionResponse, Refusal> {
    if attributes.is_dry_run && !hook.has_no_side_effects {
        return Err(Refusal::Final(Status::bad_request(format!(
            "admission webhook {:?} does not support dry run",
            hook.name
        ))));
    }
    let is_builtin = attributes.served.custom().is_none();
    if is_builtin && invocation.kind != attributes.kind {
        return Err(Refusal::Final(Status::not_implemented(format!(
            "admission webhook {:?} asks for {}: conversion from {} is not implemented yet",
            hook.name, invocation.kind, attributes.kind
        ))));
    }
    let uid = server.random().uid();
    let review = question(hook, invocation, attributes, uid).ok_or_else(|| {
        Refusal::Call(
            "could not create admission objects: webhook does not accept known AdmissionReview \
             versions (v1, v1beta1)"
                .to_owned(),
        )
    })?;
    let answer = call(server, hook, &review)
        .await
        .map_err(|why| Refusal::Call(format!("failed to call webhook: {why}")))?;
    let response = verify(&review, answer, kind)
        .map_err(|why| Refusal::Call(format!("received invalid webhook response: {why}")))?;
    warnings.lock().extend(response.warnings.iter().cloned());
    match response.allowed {
        true => Ok(response),
        false => Err(Refusal::Final(rejection(hook, response.status))),
    }
}
