use serde_json::Value;

use super::{KindName, Kinds};

/// The kinds of policies and bindings; a binding goes before its policy.
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

/// Whether the object is an admission policy or the binding of one.
pub(crate) fn is_policy(object: &Value) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let kind = kind.strip_suffix("Binding").unwrap_or(kind);
    matches!(
        kind,
        "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy"
    )
}

/// Whether the cluster serves all policies among the objects.
pub(crate) fn are_policies_served(kinds: &Kinds, objects: &[Value]) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is_served = |object: &Value| {
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let parts = api_version.split_once('/');
        parts.is_some_and(|(group, version)| kinds.resource(group, version, &kind).is_some())
    };
    let mut policies = objects.iter().filter(|one| is_policy(one));
    policies.all(is_served)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{POLICY_KINDS, is_policy};

    #[test]
    fn policies_are_told_from_webhooks_and_network_policies() {
        for (kind, wanted) in [
            ("MutatingAdmissionPolicy", true),
            ("ValidatingAdmissionPolicyBinding", true),
            ("ValidatingWebhookConfiguration", false),
            ("NetworkPolicy", false),
            ("RoleBinding", false),
        ] {
            assert_eq!(is_policy(&json!({"kind": kind})), wanted, "{kind}");
        }
        for (_, _, kind) in POLICY_KINDS {
            assert!(is_policy(&json!({"kind": kind})), "{kind}");
        }
    }
}
