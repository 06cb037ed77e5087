use kubewright_wire::status::Cause;
use serde_json::Value;

use super::definition::text;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const PLACE: &str = "metadata.annotations[api-approved.kubernetes.io]";

/// Groups of Kubernetes itself need a link to their review
/// (k8s.io/apiextensions-apiserver/pkg/apihelpers).
pub(super) fn check_approval(value: &Value, old: Option<&Value>) -> Option<Cause> {
    let group = text(&value["spec"]["group"]);
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    if !is_protected {
        return None;
    }
    let state = |value: &Value| State::of(value["metadata"]["annotations"][ANNOTATION].as_str());
    let new = state(value);
    if old.is_some_and(|old| state(old) == new) {
        return None;
    }
    match new {
        State::Missing => Some(Cause::required(
            PLACE,
            "protected groups must have approval annotation \"api-approved.kubernetes.io\", see \
             https://github.com/kubernetes/enhancements/pull/1111",
        )),
        State::Invalid => {
            let given = &value["metadata"]["annotations"][ANNOTATION];
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a \
                 URL or a reason starting with \"unapproved\", see \
                 https://github.com/kubernetes/enhancements/pull/1111"
            );
            Some(Cause::invalid(PLACE, given, &detail))
        }
        State::Approved | State::Bypassed => None,
    }
}

#[derive(PartialEq, Eq)]
enum State {
    Missing,
    Invalid,
    Approved,
    Bypassed,
}

impl State {
    fn of(annotation: Option<&str>) -> Self {
        match annotation {
            None | Some("") => Self::Missing,
            Some(text) if text.starts_with("unapproved") => Self::Bypassed,
            Some(text) if text.contains("://") => Self::Approved,
            Some(_) => Self::Invalid,
        }
    }
}
