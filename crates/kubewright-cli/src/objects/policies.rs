//! Admission policies among the objects of an operator.

use serde_json::Value;

use super::served_kinds::{KindName, ServedKinds};
use super::text::text;

/// The kinds of policies and bindings, in the order of deletion: a binding before its policy.
pub(crate) const POLICY_KINDS: [KindName; 4] = [
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicyBinding",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicy",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
    ),
];

/// Whether the object is an admission policy or a binding of one.
pub(crate) fn is_policy(object: &Value) -> bool {
    let kind = text(&object["kind"]);
    matches!(
        kind.strip_suffix("Binding").unwrap_or(kind),
        "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy"
    )
}

/// Whether the cluster serves all policies among the objects.
pub(crate) fn are_policies_served(kinds: &ServedKinds, objects: &[Value]) -> bool {
    let is_served = |object: &Value| {
        let kind = text(&object["kind"]);
        let parts = text(&object["apiVersion"]).split_once('/');
        parts.is_some_and(|(group, version)| kinds.resource(group, version, kind).is_some())
    };
    let mut policies = objects.iter().filter(|object| is_policy(object));
    policies.all(is_served)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{POLICY_KINDS, is_policy};

    #[test]
    fn only_admission_policies_and_their_bindings_are_policies() {
        for (kind, expected) in [
            ("MutatingAdmissionPolicy", true),
            ("ValidatingAdmissionPolicyBinding", true),
            ("ValidatingWebhookConfiguration", false),
            ("NetworkPolicy", false),
            ("RoleBinding", false),
        ] {
            assert_eq!(is_policy(&json!({"kind": kind})), expected, "{kind}");
        }
        for (_, _, kind) in POLICY_KINDS {
            assert!(is_policy(&json!({"kind": kind})), "{kind}");
        }
    }
}
