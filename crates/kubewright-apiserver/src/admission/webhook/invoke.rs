//! Calls a webhook about a request.

use kubewright_core::FailurePolicy;
use kubewright_wire::review::{AdmissionResponse, AdmissionReview};
use kubewright_wire::status::Status;

use super::hook::Hook;
use super::review::{denial, review_for, verify};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, objects};
use crate::scheme::not_registered;
use crate::warnings::Warnings;
use crate::webhook_client::{ResponseFormat, WebhookCall};

/// Why a webhook did not admit a request.
pub(super) enum InvokeError {
    /// The call failed or the response is invalid; the failure policy decides.
    Call(String),
    /// The request fails: the webhook denied it, or its patch does not apply.
    Final(Status),
}

/// Calls a webhook about a request. Returns the response of one that admits it.
pub(super) async fn invoke(
    context: &AdmissionContext,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
    warnings: &Warnings,
) -> Result<AdmissionResponse, InvokeError> {
    if attributes.is_dry_run && !hook.has_no_side_effects {
        return Err(InvokeError::Final(Status::bad_request(format!(
            "admission webhook {:?} does not support dry run",
            hook.name
        ))));
    }
    let objects = objects(context, &hook.display_name(), invocation, attributes)
        .await
        .map_err(|failure| InvokeError::Final(failure.into()))?;
    let uid = context.webhooks.review_uid();
    let review = review_for(hook, invocation, attributes, objects, uid).ok_or_else(|| {
        InvokeError::Call(
            "could not create admission objects: webhook does not accept known AdmissionReview \
             versions (v1, v1beta1)"
                .to_owned(),
        )
    })?;
    let seconds = hook.timeout.as_secs();
    let call = WebhookCall {
        client: &hook.client,
        url: format!("{}?timeout={seconds}s", hook.client.url()),
        timeout: hook.timeout,
        response: ResponseFormat::Yaml,
    };
    let reviewed: AdmissionReview = context
        .webhooks
        .call(&call, &review)
        .await
        .map_err(|why| InvokeError::Call(format!("failed to call webhook: {why}")))?;
    if reviewed.kind != AdmissionReview::KIND {
        return Err(InvokeError::Call(format!(
            "failed to call webhook: {}",
            not_registered(&reviewed.kind, &reviewed.api_version)
        )));
    }
    let response = verify(&review, reviewed, hook.kind)
        .map_err(|why| InvokeError::Call(format!("received invalid webhook response: {why}")))?;
    warnings.add(response.warnings.iter().cloned());
    if !response.allowed {
        return Err(InvokeError::Final(denial(hook, response.status)));
    }
    Ok(response)
}

/// Applies the failure policy: none when the request continues without this webhook.
pub(super) fn apply_failure_policy<T>(
    hook: &Hook,
    result: Result<T, InvokeError>,
) -> Result<Option<T>, Status> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(InvokeError::Final(status)) => Err(status),
        Err(InvokeError::Call(why)) if hook.failure_policy == FailurePolicy::Ignore => {
            tracing::warn!(
                webhook = hook.name,
                why,
                "admission webhook failed; the request continues because its failurePolicy is Ignore"
            );
            Ok(None)
        }
        Err(InvokeError::Call(why)) => Err(Status::internal(format!(
            "failed calling webhook {:?}: {why}",
            hook.name
        ))),
    }
}
