//! AdmissionReviews: the request to a webhook and the checks of its response.

use kubewright_core::WebhookKind;
use kubewright_wire::review::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use kubewright_wire::status::{Outcome, Reason, Status};
use serde_json::Value;

use super::hook::Hook;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::matching::{Invocation, VersionedObjects, request};

const BETA: &str = "admission.k8s.io/v1beta1";
const LOWEST_ERROR: u16 = 400;

/// The AdmissionReview of a request; none when the webhook accepts no known version of it.
pub(super) fn review_for(
    hook: &Hook,
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
    objects: VersionedObjects,
    uid: String,
) -> Option<AdmissionReview> {
    let mut versions = hook.review_versions.iter();
    let version = versions.find_map(|version| match version.as_str() {
        "v1" => Some(AdmissionReview::VERSION),
        "v1beta1" => Some(BETA),
        _ => None,
    })?;
    let mut review = AdmissionReview::with_request(AdmissionRequest {
        uid,
        object: objects.object.unwrap_or_default(),
        old_object: objects.old.unwrap_or_default(),
        ..request(invocation, attributes)
    });
    version.clone_into(&mut review.api_version);
    Some(review)
}

/// Checks a response as `VerifyAdmissionResponse` does.
pub(super) fn verify(
    sent: &AdmissionReview,
    received: AdmissionReview,
    kind: WebhookKind,
) -> Result<AdmissionResponse, String> {
    let Some(response) = received.response else {
        return Err("webhook response was absent".to_owned());
    };
    if sent.api_version == BETA {
        return Ok(response);
    }
    let uid = sent.request.as_ref().map_or("", |request| &request.uid);
    if response.uid != uid {
        return Err(format!(
            "expected response.uid={uid:?}, got {:?}",
            response.uid
        ));
    }
    if received.api_version != AdmissionReview::VERSION || received.kind != AdmissionReview::KIND {
        return Err(format!(
            "expected webhook response of {}, Kind={}, got {}, Kind={}",
            AdmissionReview::VERSION,
            AdmissionReview::KIND,
            received.api_version,
            received.kind
        ));
    }
    let has_patch = response
        .patch
        .as_ref()
        .is_some_and(|patch| !patch.0.is_empty());
    let error = match (kind, has_patch, response.patch_type.as_deref()) {
        (WebhookKind::Mutating, true, None) => {
            "webhook returned response.patch but not response.patchType"
        }
        (WebhookKind::Mutating, false, Some(_)) => {
            "webhook returned response.patchType but not response.patch"
        }
        (WebhookKind::Mutating, true, Some("")) => {
            "webhook returned invalid response.patchType of \"\""
        }
        (WebhookKind::Validating, true, _) => "validating webhook may not return response.patch",
        (WebhookKind::Validating, false, Some(_)) => {
            "validating webhook may not return response.patchType"
        }
        _ => return Ok(response),
    };
    Err(error.to_owned())
}

/// The error for a request that a webhook denies (`ToStatusErr`).
pub(super) fn denial(hook: &Hook, status: Option<Status>) -> Status {
    let mut status = status.unwrap_or_default();
    status.code = status.code.max(LOWEST_ERROR);
    status.status = Some(Outcome::Failure);
    let denied = format!("admission webhook {:?} denied the request", hook.name);
    let reason = status.reason.as_ref().map(reason_text);
    status.message = match (status.message.as_str(), reason) {
        ("", None) => format!("{denied} without explanation"),
        ("", Some(reason)) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    status
}

fn reason_text(reason: &Reason) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::WebhookKind;
    use kubewright_wire::review::{
        AdmissionRequest, AdmissionResponse, AdmissionReview, PatchBytes,
    };

    use super::verify;

    fn checked(kind: WebhookKind, response: AdmissionResponse) -> Result<(), String> {
        let sent = AdmissionReview::with_request(AdmissionRequest {
            uid: "u".to_owned(),
            ..AdmissionRequest::default()
        });
        verify(&sent, AdmissionReview::with_response(response), kind).map(drop)
    }

    fn response() -> AdmissionResponse {
        AdmissionResponse {
            uid: "u".to_owned(),
            ..AdmissionResponse::allowed()
        }
    }

    #[test]
    fn response_must_repeat_the_uid_and_have_patch_and_type_together() {
        use WebhookKind::{Mutating, Validating};
        let patch = Some(PatchBytes(b"[]".to_vec()));
        let patch_type = Some("JSONPatch".to_owned());
        assert_eq!(checked(Mutating, response()), Ok(()));
        for (kind, response, wanted) in [
            (
                Validating,
                AdmissionResponse::allowed(),
                "expected response.uid=\"u\", got \"\"",
            ),
            (
                Mutating,
                AdmissionResponse {
                    patch: patch.clone(),
                    ..response()
                },
                "webhook returned response.patch but not response.patchType",
            ),
            (
                Mutating,
                AdmissionResponse {
                    patch_type: patch_type.clone(),
                    ..response()
                },
                "webhook returned response.patchType but not response.patch",
            ),
            (
                Validating,
                AdmissionResponse {
                    patch,
                    patch_type,
                    ..response()
                },
                "validating webhook may not return response.patch",
            ),
        ] {
            assert_eq!(checked(kind, response), Err(wanted.to_owned()));
        }
    }
}
