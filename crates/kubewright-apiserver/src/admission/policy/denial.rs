//! The errors of requests that policies deny.

use kubewright_wire::status::{Cause, Reason, Status};

use super::definition::{Binding, Policy};
use super::verdict::Failure;
use crate::admission::attributes::AdmissionAttributes;

/// The denial of a request by a validating policy.
#[derive(Debug)]
pub(super) struct Denial<'a> {
    pub(super) policy: &'a Policy,
    /// None when the policy itself is misconfigured.
    pub(super) binding: Option<&'a Binding>,
    pub(super) failure: Failure,
}

impl Denial<'_> {
    /// The error of the request.
    pub(super) fn status(&self, attributes: &AdmissionAttributes) -> Status {
        let policy = &self.policy.name;
        let by = match self.binding {
            Some(binding) => format!("'{policy}' with binding '{}'", binding.name),
            None => format!("'{policy}'"),
        };
        let why = &self.failure.message;
        let message = format!("ValidatingAdmissionPolicy {by} denied request: {why}");
        let mut status = attributes.forbidden(&message);
        (status.code, status.reason) = match self.failure.reason.as_deref() {
            Some("Forbidden") => (403, Some(Reason::Forbidden)),
            Some("Unauthorized") => (401, Some(Reason::Unauthorized)),
            Some("RequestEntityTooLarge") => (413, Some(Reason::RequestEntityTooLarge)),
            _ => (422, Some(Reason::Invalid)),
        };
        status.with_cause(cause(message))
    }
}

/// A failure of a mutating policy.
#[derive(Clone, Debug)]
pub(super) struct PolicyError {
    pub(super) policy: String,
    /// None when the policy itself is misconfigured.
    pub(super) binding: Option<String>,
    pub(super) message: String,
    /// Whether the policy failed while it ran, not before.
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

/// Fails a request with the errors of mutating policies, if any: the message of the first, and all
/// as causes. The code is 403 whatever the reason, as in Kubernetes.
pub(super) fn check_errors(
    attributes: &AdmissionAttributes,
    errors: &[PolicyError],
) -> Result<(), Status> {
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
