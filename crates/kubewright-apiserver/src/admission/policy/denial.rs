use kubewright_wire::status::{Cause, Reason, Status};

use crate::admission::attributes::Attributes;

/// The code and reason of a refusal by a validating policy (`reasonToCode`).
fn told(reason: Option<&str>) -> (u16, Reason) {
    match reason {
        Some("Forbidden") => (403, Reason::Forbidden),
        Some("Unauthorized") => (401, Reason::Unauthorized),
        Some("RequestEntityTooLarge") => (413, Reason::RequestEntityTooLarge),
        _ => (422, Reason::Invalid),
    }
}

/// What a client is told when a validating policy refuses a request.
pub(super) fn denied(
    attributes: &Attributes,
    (policy, binding): (&str, Option<&str>),
    message: &str,
    reason: Option<&str>,
) -> Status {
    let by = match binding {
        Some(binding) => format!("'{policy}' with binding '{binding}'"),
        None => format!("'{policy}'"),
    };
    let message = format!("ValidatingAdmissionPolicy {by} denied request: {message}");
    let mut status = attributes.forbidden(&message);
    let (code, reason) = told(reason);
    status.code = code;
    status.reason = Some(reason);
    status.with_cause(cause(message))
}

/// What a mutating policy could not do.
#[derive(Clone, Debug)]
pub(super) struct PolicyError {
    pub(super) policy: String,
    /// None for what concerns the policy alone.
    pub(super) binding: Option<String>,
    pub(super) message: String,
    /// Whether it came up while the policy was carried out, not before.
    pub(super) is_invalid: bool,
}

impl PolicyError {
    fn text(&self) -> String {
        let (policy, message) = (&self.policy, &self.message);
        match &self.binding {
            Some(binding) => {
                format!("policy '{policy}' with binding '{binding}' denied request: {message}")
            }
            None => format!("policy {policy:?} denied request: {message}"),
        }
    }
}

/// What a client is told when mutating policies failed: the first error, and all as causes. The
/// code stays that of a refusal whatever the reason is, as in Kubernetes.
pub(super) fn failed(attributes: &Attributes, errors: &[PolicyError]) -> Result<(), Status> {
    let Some(first) = errors.first() else {
        return Ok(());
    };
    let mut status = attributes.forbidden("");
    status.message = first.text();
    if first.is_invalid {
        status.reason = Some(Reason::Invalid);
    }
    for error in errors {
        status = status.with_cause(cause(error.text()));
    }
    Err(status)
}

fn cause(message: String) -> Cause {
    Cause {
        message,
        ..Cause::default()
    }
}
