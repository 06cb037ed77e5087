use kubewright_core::{FailurePolicy, WebhookKind};
use kubewright_wire::review::{AdmissionResponse, AdmissionReview};
use kubewright_wire::status::Status;

use super::call::{AnswerForm, Question, call};
use super::configuration::Hook;
use super::review::{question, rejection, verify};
use crate::admission::matching::{Attributes, Invocation, objects};
use crate::request::Warnings;
use crate::server::Server;

/// How the decoder of answers is called where it knows no such kind.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// Why a webhook did not let a request pass.
pub(super) enum Refusal {
    /// It could not be asked, or its answer is none: what its failure policy is for.
    Call(String),
    /// It said no, or broke what it changed.
    Final(Status),
}

/// Asks a webhook; an answer that lets the request pass comes back.
pub(super) async fn ask(
    server: &Server,
    (hook, webhook): (&Hook, WebhookKind),
    invocation: &Invocation,
    attributes: &Attributes,
    warnings: &Warnings,
) -> Result<AdmissionResponse, Refusal> {
    if attributes.is_dry_run && !hook.has_no_side_effects {
        return Err(Refusal::Final(Status::bad_request(format!(
            "admission webhook {:?} does not support dry run",
            hook.name
        ))));
    }
    let (object, old) = objects(server, &hook.asker(), invocation, attributes)
        .await
        .map_err(|why| Refusal::Final(why.into()))?;
    let asked = (server.random().uid(), object, old);
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
        answer: AnswerForm::Yaml,
    };
    let answer: AdmissionReview = call(server, &to, &review)
        .await
        .map_err(|why| Refusal::Call(format!("failed to call webhook: {why}")))?;
    if answer.kind != AdmissionReview::KIND {
        return Err(Refusal::Call(format!(
            "failed to call webhook: no kind {:?} is registered for version {:?} in scheme {SCHEME:?}",
            answer.kind, answer.api_version
        )));
    }
    let response = verify(&review, answer, webhook)
        .map_err(|why| Refusal::Call(format!("received invalid webhook response: {why}")))?;
    warnings.add(response.warnings.iter().cloned());
    match response.allowed {
        true => Ok(response),
        false => Err(Refusal::Final(rejection(hook, response.status))),
    }
}

/// What becomes of a failure: the request goes on without this webhook, or it ends.
pub(super) fn settle<T>(hook: &Hook, result: Result<T, Refusal>) -> Result<Option<T>, Status> {
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
