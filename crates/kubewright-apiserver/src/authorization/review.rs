//! Access reviews.

use jiff::Timestamp;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::authentication::{SELF_SUBJECT_REVIEW, TOKEN_REVIEW};
use kubewright_kinds::authorization::{
    LOCAL_SUBJECT_ACCESS_REVIEW, SELF_SUBJECT_ACCESS_REVIEW, SELF_SUBJECT_RULES_REVIEW,
    SUBJECT_ACCESS_REVIEW,
};
use kubewright_kinds::groups::AUTHORIZATION;
use kubewright_wire::review::{NonResourceAttributes, SubjectAccessReviewSpec};
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::attributes::{AccessAttributes, AccessTarget, ResourceTarget};
use super::rbac::Decision;
use crate::authentication::{User, user_info};

/// The kinds whose objects are created and never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Review {
    /// Is the sender allowed to do this?
    SelfSubjectAccess,
    /// Is a user allowed to do this?
    SubjectAccess,
    /// Is a user allowed to do this in this namespace?
    LocalSubjectAccess,
    /// Which user is the sender?
    SelfSubject,
    /// What is the sender allowed to do in this namespace?
    SelfSubjectRules,
    /// Which user does this token authenticate?
    Token,
}

/// A review to fill in.
#[derive(Clone, Debug)]
pub(crate) struct ReviewRequest<'a> {
    pub(crate) review: Review,
    /// The sender.
    pub(crate) user: &'a User,
    /// The namespace in the path of the request; empty for none.
    pub(crate) namespace: &'a str,
    pub(crate) body: Value,
    pub(crate) now: Timestamp,
}

/// A review with the status that RBAC gives it.
#[derive(Debug)]
pub(super) struct Reviewed {
    pub(super) body: Value,
    /// The access that was reviewed, and for which user; none for a review of the sender.
    pub(super) spec: Option<SubjectAccessReviewSpec>,
}

impl Review {
    const ALL: [Self; 6] = [
        Self::SelfSubjectAccess,
        Self::SubjectAccess,
        Self::LocalSubjectAccess,
        Self::SelfSubject,
        Self::SelfSubjectRules,
        Self::Token,
    ];

    /// The review of a kind; none for other kinds.
    pub(crate) fn of(kind: &BuiltinKind) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.kind() == kind)
    }

    fn kind(self) -> &'static BuiltinKind {
        match self {
            Self::SelfSubjectAccess => &SELF_SUBJECT_ACCESS_REVIEW,
            Self::SubjectAccess => &SUBJECT_ACCESS_REVIEW,
            Self::LocalSubjectAccess => &LOCAL_SUBJECT_ACCESS_REVIEW,
            Self::SelfSubject => &SELF_SUBJECT_REVIEW,
            Self::SelfSubjectRules => &SELF_SUBJECT_RULES_REVIEW,
            Self::Token => &TOKEN_REVIEW,
        }
    }
}

/// The review with its `status` filled in.
pub(super) fn review_access(
    request: ReviewRequest<'_>,
    decide: impl FnOnce(&AccessAttributes<'_>) -> Decision,
) -> Result<Reviewed, Status> {
    let ReviewRequest {
        review,
        user,
        namespace,
        mut body,
        ..
    } = request;
    let kind = review.kind().kind;
    if !body.is_object() {
        return Err(Status::bad_request(format!(
            "read the {kind} in the body: it is not a JSON object"
        )));
    }
    if review == Review::SelfSubject {
        body["status"] = json!({"userInfo": user_info(user)});
        return Ok(Reviewed { body, spec: None });
    }
    let sent = body.get("spec").cloned().unwrap_or_else(|| json!({}));
    let mut spec: SubjectAccessReviewSpec = serde_json::from_value(sent).map_err(|error| {
        Status::bad_request(format!(
            "{kind} in version \"v1\" cannot be handled as a {kind}: {error}"
        ))
    })?;
    let causes = problems(review, namespace, &spec);
    if !causes.is_empty() {
        // Kubernetes reads the kind from a decoded object, where it is empty.
        return Err(Status::invalid_as(AUTHORIZATION, "", "", causes));
    }
    if review == Review::SelfSubjectAccess {
        spec.user.clone_from(&user.name);
        spec.uid.clone_from(&user.uid);
        spec.groups.clone_from(&user.groups);
        spec.extra.clone_from(&user.extra);
    }
    let reviewed = User {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.clone(),
    };
    let decision = decide(&attributes_of(&spec, &reviewed));
    let mut status = json!({"allowed": decision.is_allowed});
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    body["status"] = status;
    Ok(Reviewed {
        body,
        spec: Some(spec),
    })
}

fn problems(review: Review, namespace: &str, spec: &SubjectAccessReviewSpec) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut invalid = |field: &str, value: &Value, detail: &str| {
        causes.push(Cause::invalid(field, value, detail));
    };
    match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(_), Some(path)) => invalid(
            "spec.nonResourceAttributes",
            &go_value(path),
            "cannot be specified in combination with resourceAttributes",
        ),
        (None, None) => invalid(
            "spec.resourceAttributes",
            &Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        _ => {}
    }
    if review == Review::SelfSubjectAccess {
        return causes;
    }
    if spec.user.is_empty() && spec.groups.is_empty() {
        invalid(
            "spec.user",
            &json!(""),
            "at least one of user or group must be specified",
        );
    }
    if review == Review::LocalSubjectAccess {
        if let Some(resource) = &spec.resource_attributes
            && resource.namespace != namespace
        {
            let field = "spec.resourceAttributes.namespace";
            invalid(
                field,
                &json!(resource.namespace),
                "must match metadata.namespace",
            );
        }
        if let Some(path) = &spec.non_resource_attributes {
            invalid(
                "spec.nonResourceAttributes",
                &go_value(path),
                "disallowed on this kind of request",
            );
        }
    }
    causes
}

/// A path in error messages, with the names of the fields in Go.
fn go_value(path: &NonResourceAttributes) -> Value {
    json!({"Path": path.path, "Verb": path.verb})
}

fn attributes_of<'a>(spec: &'a SubjectAccessReviewSpec, user: &'a User) -> AccessAttributes<'a> {
    match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(resource), _) => AccessAttributes {
            user,
            verb: &resource.verb,
            target: AccessTarget::Resource(ResourceTarget {
                group: &resource.group,
                plural: &resource.resource,
                subresource: &resource.subresource,
                namespace: &resource.namespace,
                name: &resource.name,
            }),
        },
        (None, Some(path)) => AccessAttributes {
            user,
            verb: &path.verb,
            target: AccessTarget::Path(&path.path),
        },
        (None, None) => AccessAttributes {
            user,
            verb: "",
            target: AccessTarget::Path(""),
        },
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::{Review, ReviewRequest, review_access};
    use crate::authentication::User;
    use crate::authorization::attributes::{AccessAttributes, AccessTarget};
    use crate::authorization::rbac::Decision;

    fn allow_bob_to_get_pods(attributes: &AccessAttributes<'_>) -> Decision {
        let AccessTarget::Resource(resource) = attributes.target else {
            return Decision {
                is_allowed: false,
                reason: String::new(),
            };
        };
        let is_allowed =
            attributes.user.name == "bob" && attributes.verb == "get" && resource.plural == "pods";
        Decision {
            is_allowed,
            reason: "because".to_owned(),
        }
    }

    fn reviewed(review: Review, spec: Value) -> Result<Value, String> {
        let user = User::new("bob", ["devs"]);
        let request = ReviewRequest {
            review,
            user: &user,
            namespace: "web",
            body: json!({"spec": spec}),
            now: Timestamp::UNIX_EPOCH,
        };
        review_access(request, allow_bob_to_get_pods)
            .map(|reviewed| reviewed.body["status"].clone())
            .map_err(|status| status.message)
    }

    #[test]
    fn access_is_reviewed_for_the_sender_or_another_user() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "web"});
        let allowed = json!({"allowed": true, "reason": "because"});
        let denied = json!({"allowed": false, "reason": "because"});
        for (wanted, review, spec) in [
            (
                &allowed,
                Review::SelfSubjectAccess,
                json!({"resourceAttributes": pods}),
            ),
            (
                &allowed,
                Review::SubjectAccess,
                json!({"resourceAttributes": pods, "user": "bob"}),
            ),
            (
                &denied,
                Review::SubjectAccess,
                json!({"resourceAttributes": pods, "user": "eve"}),
            ),
            (
                &allowed,
                Review::LocalSubjectAccess,
                json!({"resourceAttributes": pods, "user": "bob"}),
            ),
            (
                &json!({"allowed": false}),
                Review::SelfSubjectAccess,
                json!({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}),
            ),
        ] {
            assert_eq!(
                reviewed(review, spec.clone()).as_ref(),
                Ok(wanted),
                "{review:?} {spec}"
            );
        }
        assert_eq!(
            reviewed(Review::SelfSubject, json!({})),
            Ok(
                json!({"userInfo": {"username": "bob", "groups": ["devs", "system:authenticated"]}})
            )
        );
    }

    #[test]
    fn review_without_attributes_or_of_another_namespace_is_invalid() {
        assert_eq!(
            reviewed(Review::SelfSubjectAccess, json!({})),
            Err(r#".authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"#.to_owned())
        );
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "db"});
        assert_eq!(
            reviewed(Review::LocalSubjectAccess, json!({"resourceAttributes": pods, "user": "bob"})),
            Err(r#".authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "db": must match metadata.namespace"#.to_owned())
        );
    }
}
