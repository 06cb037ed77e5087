use std::fmt;

use kubewright_core::Kind;
use serde::{Deserialize, Serialize};

use super::{Cause, GroupResource};

/// The answer of the API server when no object is asked for, and every error it gives.
///
/// As an error its message is the server's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// Always `Status`.
    pub kind: StatusKind,
    /// Always `v1`.
    pub api_version: StatusVersion,
    /// Filled only where a list would carry something, such as a new continue token.
    pub metadata: ListMeta,
    /// Whether the request succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Outcome>,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// For programs; none where the server does not know either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The HTTP status; 0 (left out) where the answer is a success inside a 200.
    #[serde(skip_serializing_if = "is_zero")]
    pub code: u16,
}

/// The only kind of a [`Status`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatusKind {
    /// `Status`.
    #[default]
    Status,
}

/// The only version of a [`Status`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatusVersion {
    /// `v1`.
    #[default]
    #[serde(rename = "v1", alias = "meta.k8s.io/v1")]
    V1,
}

/// The part of a list's metadata that a [`Status`] may carry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// Where an expired list may go on, at the cost of consistency.
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    /// The revision of the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

/// Whether a request succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not.
    Failure,
}

/// Why a request failed, as programs read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// Nobody could be authenticated.
    Unauthorized,
    /// The user may not do that.
    Forbidden,
    /// There is no such object.
    NotFound,
    /// There is already an object of that name.
    AlreadyExists,
    /// The object changed in between, or fields belong to others.
    Conflict,
    /// The object is not there any more.
    Gone,
    /// The object does not hold what its kind demands.
    Invalid,
    /// The server gave up for now.
    ServerTimeout,
    /// The request took too long.
    Timeout,
    /// The client shall slow down.
    TooManyRequests,
    /// The request could not be understood.
    BadRequest,
    /// The resource does not serve that method.
    MethodNotAllowed,
    /// No representation that the client accepts.
    NotAcceptable,
    /// The body is larger than the server takes.
    RequestEntityTooLarge,
    /// The body has a type that the server does not read.
    UnsupportedMediaType,
    /// The server is broken.
    InternalError,
    /// The revision asked for is no longer kept.
    Expired,
    /// The server is not there for now.
    ServiceUnavailable,
    /// A reason that is not in this list.
    #[serde(untagged)]
    Other(String),
}

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The group of `kind`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The plural name of the resource for most answers, the kind for `Invalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The single faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// When to ask again; 0 says nothing.
    #[serde(skip_serializing_if = "is_zero32")]
    pub retry_after_seconds: u32,
}

impl Status {
    /// What a delete answers when the object is really gone: a success without a code.
    pub fn deleted<'a>(resource: impl Into<GroupResource<'a>>, name: &str, uid: &str) -> Self {
        let resource = resource.into();
        Self {
            status: Some(Outcome::Success),
            details: Some(Box::new(Details {
                name: name.to_owned(),
                group: resource.group.to_owned(),
                kind: resource.plural.to_owned(),
                uid: uid.to_owned(),
                ..Details::default()
            })),
            ..Self::default()
        }
    }

    /// Whether this is an answer of the given reason.
    pub fn is(&self, reason: &Reason) -> bool {
        self.reason.as_ref() == Some(reason)
    }

    /// The same answer with when to ask again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// The same answer with one more cause, which the message does not repeat.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// The kind of this object.
    pub fn object_kind() -> Kind {
        Kind::new("", "v1", "Status")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to its predicates"
)]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to its predicates"
)]
fn is_zero32(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Reason, Status};

    #[test]
    fn a_deleted_object_is_answered_without_message_and_code() {
        let status = Status::deleted(("apps", "deployments"), "web", "u-1");
        assert_eq!(
            serde_json::to_value(status).unwrap(),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                "details": {"name": "web", "group": "apps", "kind": "deployments", "uid": "u-1"},
            })
        );
    }

    #[test]
    fn a_reason_of_another_server_is_kept() {
        let text = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"reason":"Teapot"}"#;
        let status: Status = serde_json::from_str(text).unwrap();
        assert!(status.is(&Reason::Other("Teapot".to_owned())));
        assert_eq!(serde_json::to_string(&status).unwrap(), text);
    }
}
