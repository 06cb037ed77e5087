//! The `Status` object.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::group_resource::GroupResource;

/// The response of the API server to a failed request, and to requests without another object.
///
/// As an error it has the server's message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// Always `Status`.
    pub kind: StatusKind,
    /// Always `v1`.
    pub api_version: StatusVersion,
    /// Usually empty; a failed list may have a new continue token.
    pub metadata: ListMeta,
    /// Whether the request succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Outcome>,
    /// The message for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The reason for programs; none when it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The object and the causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The HTTP status code; 0 (omitted) for a success.
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

/// The part of a list's metadata that a [`Status`] can have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// The token with which an expired list can continue, at a newer revision.
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    /// The revision of the response.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

/// Whether a request succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The authentication failed.
    Unauthorized,
    /// The authorization failed.
    Forbidden,
    /// The object does not exist.
    NotFound,
    /// An object of that name exists.
    AlreadyExists,
    /// The object has changed, or other managers own its fields.
    Conflict,
    /// The object no longer exists.
    Gone,
    /// The object is invalid.
    Invalid,
    /// The server could not complete the request in time.
    ServerTimeout,
    /// The request timed out.
    Timeout,
    /// The client is rate limited.
    TooManyRequests,
    /// The request is malformed.
    BadRequest,
    /// The resource does not support the method.
    MethodNotAllowed,
    /// The server supports no media type that the client accepts.
    NotAcceptable,
    /// The body is too large.
    RequestEntityTooLarge,
    /// The media type of the body is unsupported.
    UnsupportedMediaType,
    /// An internal error of the server.
    InternalError,
    /// The requested revision has been compacted.
    Expired,
    /// The server is unavailable.
    ServiceUnavailable,
    /// A reason that is not in this list.
    #[serde(untagged)]
    Other(String),
}

/// The object and the causes of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The group of `kind`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The plural name of the resource; for `Invalid` the kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The causes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// When the client may retry; 0 when unknown.
    #[serde(skip_serializing_if = "is_zero32")]
    pub retry_after_seconds: u32,
}

impl Status {
    /// The response to a delete that removed the object: a success without a code.
    pub fn deleted<'a>(resource: impl Into<GroupResource<'a>>, name: &str, uid: &str) -> Self {
        let GroupResource { group, plural } = resource.into();
        Self {
            status: Some(Outcome::Success),
            details: Some(Box::new(Details {
                name: name.to_owned(),
                group: group.to_owned(),
                kind: plural.to_owned(),
                uid: uid.to_owned(),
                ..Details::default()
            })),
            ..Self::default()
        }
    }

    /// Whether it has the given reason.
    pub fn is(&self, reason: &Reason) -> bool {
        self.reason.as_ref() == Some(reason)
    }

    /// Sets when the client may retry.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// Adds a cause, which is not added to the message.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
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
    reason = "serde passes a reference to its predicates"
)]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to its predicates"
)]
fn is_zero32(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Reason, Status};

    #[test]
    fn status_of_a_deleted_object_has_no_message_and_no_code() {
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
    fn unknown_reason_survives_a_round_trip() {
        let text = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"reason":"Teapot"}"#;
        let status: Status = serde_json::from_str(text).unwrap();
        assert!(status.is(&Reason::Other("Teapot".to_owned())));
        assert_eq!(serde_json::to_string(&status).unwrap(), text);
    }
}
