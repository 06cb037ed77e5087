use std::collections::BTreeSet;

use futures_util::future::join_all;
use kubewright_core::{FailurePolicy, Kind, Reinvocation, WebhookKind};
use kubewright_wire::review::{AdmissionResponse, AdmissionReview};
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::Value;

use super::Attributes;
use super::call::{AnswerForm, Question, call};
use super::configuration::{Hook, hooks};
use super::matching::{Invocation, invocation};
use super::patch::{PatchFailure, patched};
use super::review::{question, rejection, verify};
use crate::server::Server;

/// Changes an object on its way.
pub(crate) type Change<'a> = &'a (dyn Fn(&mut Value) -> Result<(), Status> + Send + Sync);

/// What happens to an object between webhooks.
#[derive(Clone, Copy)]
pub(crate) struct Between<'a> {
    /// Makes a patched object conform to its kind again: what it does not have goes, defaults
    /// come.
    pub(crate) conform: Change<'a>,
    /// Has the plugins of the server look at it once more.
    pub(crate) plugins: Change<'a>,
}

/// Why a webhook did not let a request pass.
enum Refusal {
    /// It could not be asked, or its answer is none: what its failure policy is for.
    Call(String),
    /// It said no, or broke what it changed.
    Final(Status),
}

/// Lets the mutating webhooks change the object of a request, one after another. When one did, the
/// server's own plugins look at it again, and so do those webhooks that ask for it and came before
/// a change.
pub(crate) async fn mutate(
    server: &Server,
    attributes: &mut Attributes,
    warnings: &Mutex<Vec<String>>,
    between: Between<'_>,
) -> Result<(), Status> {
    let hooks = hooks(&server.store().snapshot(), WebhookKind::Mutating);
    if hooks.is_empty() {
        return Ok(());
    }
    // Asked and willing to be asked again; those of them that a later change concerns.
    let (mut asked, mut again) = (BTreeSet::new(), BTreeSet::new());
    let mut is_changed = false;
    for round in 0..2 {
        for hook in &hooks {
            let Some(invocation) = invocation(server, hook, attributes)? else {
                continue;
            };
            if round == 1 && !again.contains(&hook.id) {
                continue;
            }
            let conform = between.conform;
            let changed = change(server, hook, &invocation, attributes, (warnings, conform)).await;
            let changed = settle(hook, changed)?.unwrap_or(false);
            if changed {
                is_changed = true;
                again.append(&mut asked);
            }
            if hook.reinvocation == Reinvocation::IfNeeded {
                asked.insert(hook.id.clone());
            }
        }
        if round == 1 || !is_changed {
            return Ok(());
        }
        if let Some(object) = &mut attributes.object {
            let before = object.clone();
            (between.plugins)(object)?;
            if *object != before {
                again.append(&mut asked);
            }
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
    (warnings, conform): (&Mutex<Vec<String>>, Change<'_>),
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
    let sent = in_version(server, attributes, Some(object), &invocation.kind).await?;
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
    let back = in_version(server, attributes, Some(&patched), &attributes.kind).await?;
    let mut patched = back.unwrap_or(patched);
    conform(&mut patched).map_err(|status| Refusal::Final(Status::internal(status.message)))?;
    let changed = *object != patched;
    attributes.object = Some(patched);
    Ok(changed)
}

/// Asks a webhook; an answer that lets the request pass comes back.
async fn ask(
    server: &Server,
    (hook, webhook): (&Hook, WebhookKind),
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
    let kind = &invocation.kind;
    let asked = (
        server.random().uid(),
        in_version(server, attributes, attributes.object.as_ref(), kind).await?,
        in_version(server, attributes, attributes.old.as_ref(), kind).await?,
    );
    let review = question(hook, invocation, attributes, asked).ok_or_else(|| {
        Refusal::Call(
            "could not create admission objects: webhook does not accept known AdmissionReview \
             versions (v1, v1beta1)"
                .to_owned(),
        )
    })?;
    let seconds = hook.timeout.as_secs();
    let to = Question {
        client: &hook.client,
        url: format!("{}?timeout={seconds}s", hook.client.url()),
        timeout: hook.timeout,
        answer: AnswerForm::Json,
    };
    let answer: AdmissionReview = call(server, &to, &review)
        .await
        .map_err(|why| Refusal::Call(format!("failed to call webhook: {why}")))?;
    let response = verify(&review, answer, webhook)
        .map_err(|why| Refusal::Call(format!("received invalid webhook response: {why}")))?;
    warnings.lock().extend(response.warnings.iter().cloned());
    match response.allowed {
        true => Ok(response),
        false => Err(Refusal::Final(rejection(hook, response.status))),
    }
}

/// An object in the version that a webhook asks for; only custom resources have a way there.
async fn in_version(
    server: &Server,
    attributes: &Attributes,
    object: Option<&Value>,
    kind: &Kind,
) -> Result<Option<Value>, Refusal> {
    let Some(object) = object else {
        return Ok(None);
    };
    let wanted = kind.api_version();
    let Some(custom) = attributes
        .served
        .custom()
        .filter(|_| object["apiVersion"] != wanted.as_str())
    else {
        return Ok(Some(object.clone()));
    };
    let objects = vec![object.clone()];
    let converted = custom
        .conversion
        .convert(server, kind, objects, &wanted)
        .await;
    match converted {
        Ok(mut converted) => Ok(converted.pop()),
        Err(status) => Err(Refusal::Final(Status::internal(status.message))),
    }
}
