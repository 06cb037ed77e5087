//! The reason of an error response, for callers that handle some errors.

use kubewright_wire::status::{Reason, Status};

/// The reason of an error that the API server returned.
///
/// Decided by the reason of the `Status`, and by the HTTP code where the reason is missing or
/// unknown: a proxy, or a path that no server handles, sends no `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorReason {
    /// The object does not exist, or its kind is not served.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// The object has changed since it was read, or another manager owns a field.
    Conflict,
    /// The requested resource version is too old; list again.
    Expired,
    /// The server has not reached the requested resource version yet.
    ResourceVersionTooLarge,
    /// The server could not authenticate the request.
    Unauthenticated,
    /// The user is not allowed to do it.
    Forbidden,
    /// The object is not valid.
    Invalid,
    /// The server is overloaded or not ready; try later.
    Unavailable,
    /// Another reason.
    Other,
}

impl ErrorReason {
    /// The reason of this status.
    pub fn of(status: &Status) -> Self {
        if is_too_large(status) {
            return Self::ResourceVersionTooLarge;
        }
        let by_reason = match &status.reason {
            Some(Reason::NotFound) => Self::NotFound,
            Some(Reason::AlreadyExists) => Self::AlreadyExists,
            Some(Reason::Conflict) => Self::Conflict,
            Some(Reason::Expired | Reason::Gone) => Self::Expired,
            Some(Reason::Unauthorized) => Self::Unauthenticated,
            Some(Reason::Forbidden) => Self::Forbidden,
            Some(Reason::Invalid) => Self::Invalid,
            Some(
                Reason::TooManyRequests
                | Reason::ServerTimeout
                | Reason::Timeout
                | Reason::ServiceUnavailable,
            ) => Self::Unavailable,
            _ => Self::Other,
        };
        match (by_reason, status.code) {
            (Self::Other, 404) => Self::NotFound,
            (Self::Other, 409) => Self::Conflict,
            (Self::Other, 410) => Self::Expired,
            (Self::Other, 401) => Self::Unauthenticated,
            (Self::Other, 403) => Self::Forbidden,
            (Self::Other, 422) => Self::Invalid,
            (Self::Other, 429 | 503 | 504) => Self::Unavailable,
            (reason, _) => reason,
        }
    }
}

/// Whether the error is `storage.NewTooLargeResourceVersionError` of k8s.io/apiserver. Servers
/// before 1.17 send no cause, only the message.
fn is_too_large(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    let has_cause = causes.any(|cause| {
        let kind = serde_json::to_value(&cause.kind);
        kind.is_ok_and(|kind| kind == "ResourceVersionTooLarge")
    });
    has_cause || status.message.contains("Too large resource version")
}

#[cfg(test)]
mod tests {
    use kubewright_wire::status::Status;
    use serde_json::json;

    use super::ErrorReason;

    fn reason(status: serde_json::Value) -> ErrorReason {
        ErrorReason::of(&serde_json::from_value::<Status>(status).unwrap())
    }

    #[test]
    fn reason_decides_and_the_code_without_a_known_reason() {
        let gone = json!({"code": 410, "reason": "Expired"});
        assert_eq!(reason(gone), ErrorReason::Expired);
        assert_eq!(reason(json!({"code": 410})), ErrorReason::Expired);
        assert_eq!(
            reason(json!({"code": 410, "reason": "Gone"})),
            ErrorReason::Expired
        );
        assert_eq!(reason(json!({"code": 404})), ErrorReason::NotFound);
        let exists = json!({"code": 409, "reason": "AlreadyExists"});
        assert_eq!(reason(exists), ErrorReason::AlreadyExists);
        assert_eq!(reason(json!({"code": 409})), ErrorReason::Conflict);
        let odd = json!({"code": 503, "reason": "Something new"});
        assert_eq!(reason(odd), ErrorReason::Unavailable);
        assert_eq!(
            reason(json!({"code": 500, "reason": "InternalError"})),
            ErrorReason::Other
        );
    }

    #[test]
    fn too_large_resource_version_is_not_an_unavailable_server() {
        let status = Status::revision_too_large(12, 7);
        assert_eq!(
            ErrorReason::of(&status),
            ErrorReason::ResourceVersionTooLarge
        );
    }
}
