use kubewright_wire::status::{Reason, Status};

/// What a refusal means for the one who asked.
///
/// Decided by the reason, and by the HTTP code where there is none or it is unknown: a proxy or a
/// path that nobody serves answers without a `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// There is no such object, or nobody serves the kind.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// The object has changed in between, or a field belongs to somebody else.
    Conflict,
    /// The revision asked for is too old; list again.
    Expired,
    /// The revision asked for has not been reached by that server yet.
    Ahead,
    /// Who we are is not known.
    Unauthenticated,
    /// What was asked is not ours to do.
    Forbidden,
    /// The object is not valid.
    Invalid,
    /// The server has too much to do, or is not ready; try later.
    Busy,
    /// Something else.
    Other,
}

impl Meaning {
    /// What this status means.
    pub fn of(status: &Status) -> Self {
        if is_ahead(status) {
            return Self::Ahead;
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
            ) => Self::Busy,
            _ => Self::Other,
        };
        match (by_reason, status.code) {
            (Self::Other, 404) => Self::NotFound,
            (Self::Other, 409) => Self::Conflict,
            (Self::Other, 410) => Self::Expired,
            (Self::Other, 401) => Self::Unauthenticated,
            (Self::Other, 403) => Self::Forbidden,
            (Self::Other, 422) => Self::Invalid,
            (Self::Other, 429 | 503 | 504) => Self::Busy,
            (meaning, _) => meaning,
        }
    }
}

/// `storage.NewTooLargeResourceVersionError` of k8s.io/apiserver; servers before 1.17 say it in
/// the message alone.
fn is_ahead(status: &Status) -> bool {
    let cause = |status: &Status| {
        let details = status.details.as_ref()?;
        let found = details.causes.iter().any(|cause| {
            let kind = serde_json::to_value(&cause.kind);
            kind.is_ok_and(|kind| kind == "ResourceVersionTooLarge")
        });
        found.then_some(())
    };
    cause(status).is_some() || status.message.contains("Too large resource version")
}

#[cfg(test)]
mod tests {
    use kubewright_wire::status::Status;
    use serde_json::json;

    use super::Meaning;

    fn meaning(status: serde_json::Value) -> Meaning {
        Meaning::of(&serde_json::from_value::<Status>(status).unwrap())
    }

    #[test]
    fn the_reason_decides_and_the_code_where_there_is_none() {
        let gone = json!({"code": 410, "reason": "Expired"});
        assert_eq!(meaning(gone), Meaning::Expired);
        assert_eq!(meaning(json!({"code": 410})), Meaning::Expired);
        assert_eq!(
            meaning(json!({"code": 410, "reason": "Gone"})),
            Meaning::Expired
        );
        assert_eq!(meaning(json!({"code": 404})), Meaning::NotFound);
        let exists = json!({"code": 409, "reason": "AlreadyExists"});
        assert_eq!(meaning(exists), Meaning::AlreadyExists);
        assert_eq!(meaning(json!({"code": 409})), Meaning::Conflict);
        let odd = json!({"code": 503, "reason": "Something new"});
        assert_eq!(meaning(odd), Meaning::Busy);
        assert_eq!(
            meaning(json!({"code": 500, "reason": "InternalError"})),
            Meaning::Other
        );
    }

    #[test]
    fn a_revision_from_the_future_is_told_apart_from_a_busy_server() {
        let status = Status::revision_too_large(12, 7);
        assert_eq!(Meaning::of(&status), Meaning::Ahead);
    }
}
