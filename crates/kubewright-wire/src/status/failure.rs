//! Constructors of failures, with the messages of Kubernetes.

use std::collections::HashSet;

use kubewright_core::Kind;

use super::cause::{Cause, CauseKind, quoted};
use super::group_resource::{GroupResource, qualified};
use super::object::{Details, Outcome, Reason, Status};

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";
const BODY_TYPES: &str = "the body of the request was in an unknown format - accepted media types \
     include: application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The failures of the API server; their messages are those of Kubernetes 1.36
/// (k8s.io/apimachinery/pkg/api/errors).
impl Status {
    /// A failure with the given HTTP status and message.
    pub fn failure(code: u16, reason: Option<Reason>, message: impl Into<String>) -> Self {
        Self {
            status: Some(Outcome::Failure),
            message: message.into(),
            reason,
            code,
            ..Self::default()
        }
    }

    /// 404: the resource has no object of that name.
    pub fn not_found<'a>(resource: impl Into<GroupResource<'a>>, name: &str) -> Self {
        let resource = resource.into();
        let message = format!("{} {} not found", resource.qualified(), quoted(name));
        Self::failure(404, Some(Reason::NotFound), message).about(resource, name)
    }

    /// 404: the group version has no such resource.
    pub fn unknown_resource() -> Self {
        let message = "the server could not find the requested resource";
        let mut status = Self::failure(404, Some(Reason::NotFound), message);
        status.details = Some(Box::default());
        status
    }

    /// 409: an object of that name exists.
    pub fn already_exists<'a>(resource: impl Into<GroupResource<'a>>, name: &str) -> Self {
        let resource = resource.into();
        let message = format!("{} {} already exists", resource.qualified(), quoted(name));
        Self::failure(409, Some(Reason::AlreadyExists), message).about(resource, name)
    }

    /// 409: an object of that name exists, and the new object has a `generateName`.
    pub fn generate_name_conflict<'a>(resource: impl Into<GroupResource<'a>>, name: &str) -> Self {
        let mut status = Self::already_exists(resource, name).retry_after(1);
        status
            .message
            .push_str(", the server was not able to generate a unique name for the object");
        status
    }

    /// 409: the object changed since it was read.
    pub fn conflict<'a>(resource: impl Into<GroupResource<'a>>, name: &str) -> Self {
        Self::conflict_because(resource, name, MODIFIED)
    }

    /// 409 for another reason, such as a failed precondition.
    pub fn conflict_because<'a>(
        resource: impl Into<GroupResource<'a>>,
        name: &str,
        why: &str,
    ) -> Self {
        let resource = resource.into();
        let message = format!(
            "Operation cannot be fulfilled on {} {}: {why}",
            resource.qualified(),
            quoted(name)
        );
        Self::failure(409, Some(Reason::Conflict), message).about(resource, name)
    }

    /// 409: other managers own fields that an apply would change.
    pub fn apply_conflict(message: impl Into<String>, causes: Vec<Cause>) -> Self {
        let mut status = Self::failure(409, Some(Reason::Conflict), message);
        status.details.get_or_insert_default().causes = causes;
        status
    }

    /// 422: the object is invalid. The message contains equal causes once.
    pub fn invalid(kind: &Kind, name: &str, causes: Vec<Cause>) -> Self {
        Self::invalid_as(kind.group(), &kind.kind, name, causes)
    }

    /// 422 with another name instead of the kind, as the server sends in some cases.
    pub fn invalid_as(group: &str, what: &str, name: &str, causes: Vec<Cause>) -> Self {
        let mut seen = HashSet::new();
        let mut errors: Vec<String> = causes.iter().map(Cause::with_field).collect();
        errors.retain(|error| seen.insert(error.clone()));
        let mut message = format!("{} {} is invalid", qualified(what, group), quoted(name));
        match errors.as_slice() {
            [] => {}
            [only] => message.push_str(&format!(": {only}")),
            several => message.push_str(&format!(": [{}]", several.join(", "))),
        }
        let mut status = Self::failure(422, Some(Reason::Invalid), message);
        status.details = Some(Box::new(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: what.to_owned(),
            causes,
            ..Details::default()
        }));
        status
    }

    /// 403. An empty resource means a path outside the API, an empty name a collection.
    pub fn forbidden<'a>(resource: impl Into<GroupResource<'a>>, name: &str, why: &str) -> Self {
        let resource = resource.into();
        let message = match (resource.plural, name) {
            ("", _) => format!("forbidden: {why}"),
            (_, "") => format!("{} is forbidden: {why}", resource.qualified()),
            _ => format!(
                "{} {} is forbidden: {why}",
                resource.qualified(),
                quoted(name)
            ),
        };
        Self::failure(403, Some(Reason::Forbidden), message).about(resource, name)
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::failure(401, Some(Reason::Unauthorized), "Unauthorized")
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, Some(Reason::BadRequest), message)
    }

    /// 405: the resource does not serve that method.
    pub fn method_not_supported() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut status = Self::failure(405, Some(Reason::MethodNotAllowed), message);
        status.details = Some(Box::default());
        status
    }

    /// 415: the media type of the body is unsupported.
    pub fn unsupported_media_type() -> Self {
        Self::failure(415, Some(Reason::UnsupportedMediaType), BODY_TYPES)
    }

    /// 415: the resource does not support this type of patch.
    pub fn unsupported_patch_type() -> Self {
        let message = "415: Unsupported Media Type";
        let mut status = Self::failure(415, Some(Reason::UnsupportedMediaType), message);
        status.details = Some(Box::default());
        status
    }

    /// 406: the client accepts none of these types.
    pub fn not_acceptable(available: &[&str]) -> Self {
        let message = format!(
            "406: Not Acceptable\n\nAvailable representations: {}",
            available.join(", ")
        );
        let mut status = Self::failure(406, Some(Reason::NotAcceptable), message);
        status.details = Some(Box::default());
        status
    }

    /// 406: the transformation in `as=` does not exist.
    pub fn only_accepts(available: &[&str]) -> Self {
        let message = format!(
            "only the following media types are accepted: {}",
            available.join(", ")
        );
        Self::failure(406, Some(Reason::NotAcceptable), message)
    }

    /// 410: the requested revision has been compacted.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::failure(410, Some(Reason::Expired), message)
    }

    /// 410: the requested resource no longer exists.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::failure(410, Some(Reason::Gone), message)
    }

    /// 413: the body is larger than `limit` bytes.
    pub fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::failure(413, Some(Reason::RequestEntityTooLarge), message)
    }

    /// 429.
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::failure(429, Some(Reason::TooManyRequests), message).retry_after(retry_after_seconds)
    }

    /// 504: the request took too long.
    pub fn timeout(message: &str) -> Self {
        Self::failure(504, Some(Reason::Timeout), format!("Timeout: {message}")).retry_after(0)
    }

    /// 504: the requested revision is in the future.
    pub fn revision_too_large(requested: u64, current: u64) -> Self {
        let message =
            format!("Timeout: Too large resource version: {requested}, current: {current}");
        Self::failure(504, Some(Reason::Timeout), message)
            .with_cause(Cause {
                kind: Some(CauseKind::ResourceVersionTooLarge),
                message: "Too large resource version".to_owned(),
                field: String::new(),
            })
            .retry_after(1)
    }

    /// 500: an internal error of the server.
    pub fn internal(message: impl Into<String>) -> Self {
        let cause = Cause {
            message: message.into(),
            ..Cause::default()
        };
        let shown = format!("Internal error occurred: {}", cause.message);
        Self::failure(500, Some(Reason::InternalError), shown).with_cause(cause)
    }

    /// 500 without a reason: an error without a Status in Kubernetes, such as an apply of a field
    /// that is not in the schema.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::failure(500, None, message)
    }

    /// 501: this server does not support the request; the message names the missing feature.
    pub fn not_implemented(message: impl Into<String>) -> Self {
        let reason = Reason::Other("NotImplemented".to_owned());
        Self::failure(501, Some(reason), message)
    }

    /// Sets the object in the details.
    #[must_use]
    pub fn about<'a>(mut self, resource: impl Into<GroupResource<'a>>, name: &str) -> Self {
        let GroupResource { group, plural } = resource.into();
        let details = self.details.get_or_insert_default();
        details.group = group.to_owned();
        details.kind = plural.to_owned();
        details.name = name.to_owned();
        self
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use crate::status::{Cause, Status};

    #[test]
    fn messages_are_those_of_kubernetes() {
        let cases = [
            (
                Status::not_found(("", "configmaps"), "x"),
                r#"configmaps "x" not found"#,
            ),
            (
                Status::not_found(("ex.io", "foos"), "x"),
                r#"foos.ex.io "x" not found"#,
            ),
            (
                Status::already_exists(("", "configmaps"), "x"),
                r#"configmaps "x" already exists"#,
            ),
            (
                Status::conflict(("", "configmaps"), "x"),
                "Operation cannot be fulfilled on configmaps \"x\": the object has been modified; \
                 please apply your changes to the latest version and try again",
            ),
            (
                Status::forbidden(("", ""), "", r#"User "bob" cannot get path "/metrics""#),
                r#"forbidden: User "bob" cannot get path "/metrics""#,
            ),
            (
                Status::forbidden(("", "pods"), "", "no"),
                "pods is forbidden: no",
            ),
            (
                Status::forbidden(("", "pods"), "x", "no"),
                r#"pods "x" is forbidden: no"#,
            ),
            (
                Status::too_large(3_145_728),
                "Request entity too large: limit is 3145728",
            ),
        ];
        for (status, message) in cases {
            assert_eq!(status.to_string(), message);
        }
    }

    #[test]
    fn message_lists_several_causes_in_brackets_and_equal_ones_once() {
        let kind = Kind::new("apps", "v1", "Deployment");
        let a = Cause::required("spec.a", "");
        let b = Cause::invalid("spec.b", &json!(1), "no");
        let equal = Status::invalid(&kind, "x", vec![a.clone(), a.clone()]);
        assert_eq!(
            equal.message,
            r#"Deployment.apps "x" is invalid: spec.a: Required value"#
        );
        let several = Status::invalid(&kind, "x", vec![a, b]);
        assert_eq!(
            several.message,
            "Deployment.apps \"x\" is invalid: \
             [spec.a: Required value, spec.b: Invalid value: 1: no]"
        );
        let details = serde_json::to_value(several.details.unwrap()).unwrap();
        assert_eq!(details["kind"], "Deployment");
        assert_eq!(
            details["causes"][1],
            json!({"reason": "FieldValueInvalid", "message": "Invalid value: 1: no", "field": "spec.b"})
        );
    }
}
