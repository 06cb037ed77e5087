//! Access reviews.

use std::collections::BTreeMap;

use kubewright_wire::status::{Cause, Status};
use serde::Deserialize;
use serde_json::{Value, json};

use super::attributes::{Attributes, ResourceTarget, Target};
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

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    resource_attributes: Option<ResourceAttributes>,
    non_resource_attributes: Option<PathAttributes>,
    user: String,
    groups: Vec<String>,
    uid: String,
    extra: BTreeMap<String, Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResourceAttributes {
    namespace: String,
    verb: String,
    group: String,
    resource: String,
    subresource: String,
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PathAttributes {
    path: String,
    verb: String,
}

impl PathAttributes {
    /// As Go writes it, with the names of its fields there.
    fn shown(&self) -> Value {
        json!({"Path": self.path, "Verb": self.verb})
    }
}

impl Review {
    /// The review of a resource.
    pub(crate) fn of(group: &str, plural: &str) -> Option<Self> {
        match (group, plural) {
            ("authorization.k8s.io", "selfsubjectaccessreviews") => Some(Self::SelfSubjectAccess),
            ("authorization.k8s.io", "subjectaccessreviews") => Some(Self::SubjectAccess),
            ("authorization.k8s.io", "localsubjectaccessreviews") => Some(Self::LocalSubjectAccess),
            ("authentication.k8s.io", "selfsubjectreviews") => Some(Self::SelfSubject),
            ("authorization.k8s.io", "selfsubjectrulesreviews") => Some(Self::SelfSubjectRules),
            ("authentication.k8s.io", "tokenreviews") => Some(Self::Token),
            _ => None,
        }
    }

    /// Whether it is about access to a resource or path.
    pub(crate) fn is_about_access(self) -> bool {
        matches!(
            self,
            Self::SelfSubjectAccess | Self::SubjectAccess | Self::LocalSubjectAccess
        )
    }

    fn kind(self) -> &'static str {
        match self {
            Self::SelfSubjectAccess => "SelfSubjectAccessReview",
            Self::SubjectAccess => "SubjectAccessReview",
            Self::LocalSubjectAccess => "LocalSubjectAccessReview",
            Self::SelfSubject => "SelfSubjectReview",
            Self::SelfSubjectRules => "SelfSubjectRulesReview",
            Self::Token => "TokenReview",
        }
    }
}

/// The review with its `status` filled in.
///
/// `namespace` is that of the request's path, empty for none.
pub(super) fn review_access(
    review: Review,
    user: &User,
    namespace: &str,
    mut body: Value,
    decide: impl FnOnce(&Attributes<'_>) -> Decision,
) -> Result<Value, Status> {
    if !body.is_object() {
        return Err(Status::bad_request(format!(
            "read a {}: it is no object",
            review.kind()
        )));
    }
    if review == Review::SelfSubject {
        body["status"] = json!({"userInfo": user_info(user)});
        return Ok(body);
    }
    let spec = body.get("spec").cloned().unwrap_or_else(|| json!({}));
    let spec: Spec = serde_json::from_value(spec).map_err(|error| {
        let kind = review.kind();
        Status::bad_request(format!(
            "{kind} in version \"v1\" cannot be handled as a {kind}: {error}"
        ))
    })?;
    let causes = problems(review, namespace, &spec);
    if !causes.is_empty() {
        // Kubernetes takes the kind from an object that has forgotten it.
        return Err(Status::invalid_as("authorization.k8s.io", "", "", causes));
    }
    let reviewed = User {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.clone(),
    };
    let user = match review {
        Review::SubjectAccess | Review::LocalSubjectAccess => &reviewed,
        _ => user,
    };
    let decision = decide(&spec.attributes(user));
    let mut status = json!({"allowed": decision.is_allowed});
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    body["status"] = status;
    Ok(body)
}

fn problems(review: Review, namespace: &str, spec: &Spec) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut fault = |field: &str, value: &Value, detail: &str| {
        causes.push(Cause::invalid(field, value, detail));
    };
    match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(_), Some(path)) => fault(
            "spec.nonResourceAttributes",
            &path.shown(),
            "cannot be specified in combination with resourceAttributes",
        ),
        (None, None) => fault(
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
        fault(
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
            fault(
                field,
                &json!(resource.namespace),
                "must match metadata.namespace",
            );
        }
        if let Some(path) = &spec.non_resource_attributes {
            fault(
                "spec.nonResourceAttributes",
                &path.shown(),
                "disallowed on this kind of request",
            );
        }
    }
    causes
}

impl Spec {
    fn attributes<'a>(&'a self, user: &'a User) -> Attributes<'a> {
        match (&self.resource_attributes, &self.non_resource_attributes) {
            (Some(resource), _) => Attributes {
                user,
                verb: &resource.verb,
                target: Target::Resource(ResourceTarget {
                    group: &resource.group,
                    plural: &resource.resource,
                    subresource: &resource.subresource,
                    namespace: &resource.namespace,
                    name: &resource.name,
                }),
            },
            (None, Some(path)) => Attributes {
                user,
                verb: &path.verb,
                target: Target::Path(&path.path),
            },
            (None, None) => Attributes {
                user,
                verb: "",
                target: Target::Path(""),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Review, review_access};
    use crate::authentication::User;
    use crate::authorization::attributes::{Attributes, Target};
    use crate::authorization::rbac::Decision;

    fn bob_may_get_pods(asked: &Attributes<'_>) -> Decision {
        let Target::Resource(resource) = asked.target else {
            return Decision {
                is_allowed: false,
                reason: String::new(),
            };
        };
        let is_allowed =
            asked.user.name == "bob" && asked.verb == "get" && resource.plural == "pods";
        Decision {
            is_allowed,
            reason: "because".to_owned(),
        }
    }

    fn ask(review: Review, spec: Value) -> Result<Value, String> {
        let user = User::new("bob", ["devs"]);
        let reviewed = review_access(
            review,
            &user,
            "web",
            json!({"spec": spec}),
            bob_may_get_pods,
        );
        reviewed
            .map(|body| body["status"].clone())
            .map_err(|status| status.message)
    }

    #[test]
    fn a_review_is_answered_for_oneself_or_for_somebody() {
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
                ask(review, spec.clone()).as_ref(),
                Ok(wanted),
                "{review:?} {spec}"
            );
        }
        assert_eq!(
            ask(Review::SelfSubject, json!({})),
            Ok(
                json!({"userInfo": {"username": "bob", "groups": ["devs", "system:authenticated"]}})
            )
        );
    }

    #[test]
    fn a_review_that_asks_nothing_is_invalid() {
        assert_eq!(
            ask(Review::SelfSubjectAccess, json!({})),
            Err(r#".authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"#.to_owned())
        );
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "db"});
        assert_eq!(
            ask(Review::LocalSubjectAccess, json!({"resourceAttributes": pods, "user": "bob"})),
            Err(r#".authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "db": must match metadata.namespace"#.to_owned())
        );
    }
}
