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
    /// Whether the subject is this user. A ServiceAccount without a namespace is looked for in
    /// the binding's own, which is empty for a ClusterRoleBinding and then matches nobody.
    pub(super) fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.is_in(&self.name),
            "ServiceAccount" => {
                let namespace = self.namespace_or(binding_namespace);
                !namespace.is_empty()
                    && user.as_service_account() == Some((namespace, self.name.as_str()))
            }
            _ => false,
        }
    }

    /// As the reason of an allowed review names it.
    pub(super) fn describe(&self, binding_namespace: &str) -> String {
        match self.kind.as_str() {
            "ServiceAccount" => {
                let namespace = self.namespace_or(binding_namespace);
                format!("ServiceAccount {:?}", format!("{}/{namespace}", self.name))
            }
            kind => format!("{kind} {:?}", self.name),
        }
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
    fn a_subject_is_a_user_a_group_or_an_account() {
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
