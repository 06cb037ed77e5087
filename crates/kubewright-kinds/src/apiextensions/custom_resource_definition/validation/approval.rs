//! The approval annotation of protected groups.

use kubewright_wire::status::Cause;
use serde_json::Value;

use crate::json::text;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const PATH: &str = "metadata.annotations[api-approved.kubernetes.io]";

/// The groups of Kubernetes itself require a link to their API review
/// (k8s.io/apiextensions-apiserver/pkg/apihelpers).
pub(super) fn check_approval(value: &Value, old: Option<&Value>) -> Option<Cause> {
    let group = text(&value["spec"]["group"]);
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    if !is_protected {
        return None;
    }
    let state = |value: &Value| Approval::of(value["metadata"]["annotations"][ANNOTATION].as_str());
    let new = state(value);
    if old.is_some_and(|old| state(old) == new) {
        return None;
    }
    match new {
        Approval::Missing => Some(Cause::required(
            PATH,
            "protected groups must have approval annotation \"api-approved.kubernetes.io\", see \
             https://github.com/kubernetes/enhancements/pull/1111",
        )),
        Approval::Invalid => {
            let given = &value["metadata"]["annotations"][ANNOTATION];
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a \
                 URL or a reason starting with \"unapproved\", see \
                 https://github.com/kubernetes/enhancements/pull/1111"
            );
            Some(Cause::invalid(PATH, given, &detail))
        }
        Approval::Approved | Approval::Bypassed => None,
    }
}

/// What the annotation means.
#[derive(PartialEq, Eq)]
enum Approval {
    Missing,
    Invalid,
    Approved,
    Bypassed,
}

impl Approval {
    fn of(annotation: Option<&str>) -> Self {
        match annotation {
            None | Some("") => Self::Missing,
            Some(text) if text.starts_with("unapproved") => Self::Bypassed,
            Some(text) if text.contains("://") => Self::Approved,
            Some(_) => Self::Invalid,
        }
    }
}
