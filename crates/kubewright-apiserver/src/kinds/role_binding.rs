use kubewright_core::Kind;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

const GROUP: &str = "rbac.authorization.k8s.io";

/// A binding keeps its role: whoever may change the subjects of a binding must not hand out more
/// than it was made for (`ValidateRoleBindingUpdate` of pkg/apis/rbac/validation).
pub(crate) fn changed_role(kind: &Kind, old: &Value, new: &Value) -> Option<Cause> {
    let is_binding = matches!(kind.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    if kind.group() != GROUP || !is_binding {
        return None;
    }
    let (before, after) = (role(old), role(new));
    (before != after).then(|| Cause::invalid("roleRef", &after, "cannot change roleRef"))
}

/// The reference as Go prints it; a group that is not named is the one of roles.
fn role(binding: &Value) -> Value {
    let text = |field: &str| binding["roleRef"][field].as_str().unwrap_or_default();
    let group = match text("apiGroup") {
        "" => GROUP,
        group => group,
    };
    json!({"APIGroup": group, "Kind": text("kind"), "Name": text("name")})
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::{GROUP, changed_role};

    fn problem(old: Value, new: Value) -> Option<String> {
        let kind = Kind::new(GROUP, "v1", "RoleBinding");
        let (old, new) = (json!({"roleRef": old}), json!({"roleRef": new}));
        changed_role(&kind, &old, &new).map(|cause| cause.with_field())
    }

    #[test]
    fn a_binding_keeps_its_role() {
        let view = json!({"kind": "ClusterRole", "name": "view"});
        let grouped = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"});
        let admin = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": "admin"});
        assert_eq!(problem(view, grouped.clone()), None);
        assert_eq!(
            problem(grouped, admin).unwrap(),
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\
             \"Kind\":\"ClusterRole\",\"Name\":\"admin\"}: cannot change roleRef"
        );
    }
}
