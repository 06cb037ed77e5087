//! The subjects of role bindings.

use kubewright_kinds::core::SERVICE_ACCOUNT;
use serde::Deserialize;

use crate::authentication::User;

/// One entry of a binding's `subjects`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Subject {
    kind: String,
    name: String,
    #[serde(default)]
    namespace: String,
}

impl Subject {
    /// Whether the subject is this user. A ServiceAccount without a namespace is in the namespace
    /// of the binding. That is empty for a ClusterRoleBinding, where it matches no user.
    pub(super) fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.is_in(&self.name),
            kind if kind == SERVICE_ACCOUNT.kind => {
                let namespace = self.namespace_or(binding_namespace);
                !namespace.is_empty()
                    && user.as_service_account() == Some((namespace, self.name.as_str()))
            }
            _ => false,
        }
    }

    /// The subject in the reason of an allowed review.
    pub(super) fn describe(&self, binding_namespace: &str) -> String {
        let Self { kind, name, .. } = self;
        if *kind == SERVICE_ACCOUNT.kind {
            let namespace = self.namespace_or(binding_namespace);
            return format!("{kind} {:?}", format!("{name}/{namespace}"));
        }
        format!("{kind} {name:?}")
    }

    fn namespace_or<'a>(&'a self, fallback: &'a str) -> &'a str {
        match self.namespace.as_str() {
            "" => fallback,
            namespace => namespace,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Subject;
    use crate::authentication::User;

    #[test]
    fn subject_is_a_user_a_group_or_a_service_account() {
        let robot = User::service_account("web", "robot");
        let user = json!({"kind": "User", "name": "system:serviceaccount:web:robot"});
        let group = json!({"kind": "Group", "name": "system:serviceaccounts:web"});
        let account = json!({"kind": "ServiceAccount", "name": "robot", "namespace": "web"});
        let here = json!({"kind": "ServiceAccount", "name": "robot"});
        let other = json!({"kind": "ServiceAccount", "name": "robot", "namespace": "db"});
        let odd = json!({"kind": "Machine", "name": "robot"});
        for (wanted, value, namespace) in [
            (true, &user, ""),
            (true, &group, ""),
            (true, &account, "db"),
            (true, &here, "web"),
            (false, &here, "db"),
            (false, &here, ""),
            (false, &other, "web"),
            (false, &odd, "web"),
        ] {
            let subject: Subject = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(subject.is(&robot, namespace), wanted, "{value} {namespace}");
        }
    }
}
