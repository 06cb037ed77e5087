use std::collections::BTreeMap;

use kubewright_core::PolicyRule;
use serde::Deserialize;
use serde_json::Value;

use super::rule::allows;
use super::subject::Subject;
use super::{Attributes, Target};
use crate::who::User;

/// The stored roles and bindings in the form in which they are asked.
///
/// A value of its own time: when a role or binding changes, a new one is made.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    /// Rules by namespace and name; cluster roles have an empty namespace.
    roles: BTreeMap<(String, String), Vec<PolicyRule>>,
    /// Bindings by namespace; cluster-wide ones have an empty one.
    bindings: BTreeMap<String, Vec<Binding>>,
}

/// Whether something is allowed, and what an access review says as the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) is_allowed: bool,
    pub(crate) reason: String,
}

#[derive(Debug)]
struct Binding {
    name: String,
    namespace: String,
    role: RoleReference,
    subjects: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
struct RoleReference {
    kind: String,
    name: String,
}

impl Policy {
    /// The group of roles and bindings.
    pub(crate) const GROUP: &'static str = "rbac.authorization.k8s.io";

    /// Adds a stored object, given by its plural name; others than roles and bindings are passed
    /// over, and so is what does not have their shape.
    pub(crate) fn add(&mut self, plural: &str, object: &Value) {
        match plural {
            "roles" | "clusterroles" => self.add_role(object),
            "rolebindings" | "clusterrolebindings" => self.add_binding(object),
            _ => {}
        }
    }

    /// Answers the question of whether a user may do something.
    pub(crate) fn decide(&self, asked: &Attributes<'_>) -> Decision {
        if asked.user.is_master() {
            return Decision::allowed(String::new());
        }
        let mut faults = Vec::new();
        let namespace = asked.namespace();
        let mut scopes = vec![""];
        if !namespace.is_empty() && matches!(asked.target, Target::Resource(_)) {
            scopes.push(namespace);
        }
        for (binding, subject) in self.bindings_of(asked.user, &scopes) {
            match self.rules(binding) {
                Ok(rules) if rules.iter().any(|rule| allows(rule, asked)) => {
                    return Decision::allowed(binding.describe(subject));
                }
                Ok(_) => {}
                Err(fault) => faults.push(fault),
            }
        }
        Decision::denied(&faults)
    }

    /// All rules that a user has in a namespace (everywhere, for an empty one), and what could not
    /// be found out.
    pub(crate) fn rules_for(&self, user: &User, namespace: &str) -> (Vec<PolicyRule>, Vec<String>) {
        let mut scopes = vec![""];
        if !namespace.is_empty() {
            scopes.push(namespace);
        }
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for (binding, _) in self.bindings_of(user, &scopes) {
            match self.rules(binding) {
                Ok(rules) => found.extend(rules.iter().cloned()),
                Err(fault) => faults.push(fault),
            }
        }
        (found, faults)
    }

    /// The rules of the role that a binding in a namespace would refer to.
    pub(crate) fn role_rules(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Option<&[PolicyRule]> {
        let namespace = match kind {
            "Role" => namespace,
            "ClusterRole" => "",
            _ => return None,
        };
        let rules = self.roles.get(&(namespace.to_owned(), name.to_owned()));
        rules.map(Vec::as_slice)
    }

    /// The bindings of these scopes that name the user, and as whom.
    fn bindings_of<'a>(
        &'a self,
        user: &'a User,
        scopes: &'a [&'a str],
    ) -> impl Iterator<Item = (&'a Binding, &'a Subject)> {
        let bindings = scopes
            .iter()
            .filter_map(|scope| self.bindings.get(*scope))
            .flatten();
        bindings.filter_map(|binding| {
            let mut subjects = binding.subjects.iter();
            let subject = subjects.find(|one| one.is(user, &binding.namespace))?;
            Some((binding, subject))
        })
    }

    fn rules(&self, binding: &Binding) -> Result<&[PolicyRule], String> {
        let RoleReference { kind, name } = &binding.role;
        if !matches!(kind.as_str(), "Role" | "ClusterRole") {
            return Err(format!("unsupported role reference kind: {kind:?}"));
        }
        self.role_rules(kind, &binding.namespace, name)
            .ok_or_else(|| {
                let singular = kind.to_lowercase();
                format!("{singular}.rbac.authorization.k8s.io {name:?} not found")
            })
    }

    fn add_role(&mut self, object: &Value) {
        let key = (text(object, "namespace"), text(object, "name"));
        let rules = match object.get("rules") {
            Some(Value::Array(rules)) => rules.iter().filter_map(read).collect(),
            _ => Vec::new(),
        };
        self.roles.insert(key, rules);
    }

    fn add_binding(&mut self, object: &Value) {
        let Some(role) = object.get("roleRef").and_then(read) else {
            return;
        };
        let subjects = match object.get("subjects") {
            Some(Value::Array(subjects)) => subjects.iter().filter_map(read).collect(),
            _ => Vec::new(),
        };
        let namespace = text(object, "namespace");
        self.bindings
            .entry(namespace.clone())
            .or_default()
            .push(Binding {
                name: text(object, "name"),
                namespace,
                role,
                subjects,
            });
    }
}

impl Decision {
    fn allowed(reason: String) -> Self {
        Self {
            is_allowed: true,
            reason,
        }
    }

    fn denied(faults: &[String]) -> Self {
        let reason = match faults {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            several => format!("RBAC: [{}]", several.join(", ")),
        };
        Self {
            is_allowed: false,
            reason,
        }
    }
}

impl Binding {
    /// The reason that `status.reason` of a review gives.
    fn describe(&self, subject: &Subject) -> String {
        let (kind, name) = match self.namespace.as_str() {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        let RoleReference {
            kind: role_kind,
            name: role,
        } = &self.role;
        let subject = subject.describe(&self.namespace);
        format!("RBAC: allowed by {kind} {name:?} of {role_kind} {role:?} to {subject}")
    }
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn text(object: &Value, field: &str) -> String {
    let value = object
        .get("metadata")
        .and_then(|metadata| metadata.get(field));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Policy;
    use crate::may::{Attributes, ResourceTarget, Target, bootstrap_objects};
    use crate::who::User;

    fn role(name: &str, namespace: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": namespace},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
        })
    }

    fn binding(name: &str, namespace: &str, role_kind: &str, role: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
            "subjects": [{"kind": "User", "name": "bob"}],
        })
    }

    fn may_list_pods(policy: &Policy, user: &User, namespace: &str) -> (bool, String) {
        let target = ResourceTarget {
            plural: "pods",
            namespace,
            ..ResourceTarget::default()
        };
        let decision = policy.decide(&Attributes {
            user,
            verb: "list",
            target: Target::Resource(target),
        });
        (decision.is_allowed, decision.reason)
    }

    #[test]
    fn a_role_binding_grants_in_its_namespace_only() {
        let mut policy = Policy::default();
        policy.add("roles", &role("reader", "web"));
        policy.add("rolebindings", &binding("b", "web", "Role", "reader"));
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            may_list_pods(&policy, &bob, "web"),
            (
                true,
                r#"RBAC: allowed by RoleBinding "b/web" of Role "reader" to User "bob""#.to_owned()
            )
        );
        assert_eq!(may_list_pods(&policy, &bob, "db"), (false, String::new()));
        assert_eq!(may_list_pods(&policy, &bob, ""), (false, String::new()));
        let eve = User::new("eve", [""; 0]);
        assert_eq!(may_list_pods(&policy, &eve, "web"), (false, String::new()));
    }

    #[test]
    fn a_cluster_role_is_granted_everywhere_or_in_one_namespace() {
        let mut policy = Policy::default();
        policy.add("clusterroles", &role("reader", ""));
        policy.add(
            "rolebindings",
            &binding("b", "web", "ClusterRole", "reader"),
        );
        let bob = User::new("bob", [""; 0]);
        assert!(may_list_pods(&policy, &bob, "web").0);
        assert!(!may_list_pods(&policy, &bob, "").0);
        policy.add(
            "clusterrolebindings",
            &binding("c", "", "ClusterRole", "reader"),
        );
        assert_eq!(
            may_list_pods(&policy, &bob, ""),
            (
                true,
                r#"RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "reader" to User "bob""#
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_binding_to_a_missing_role_is_told_as_the_reason() {
        let mut policy = Policy::default();
        policy.add(
            "clusterrolebindings",
            &binding("c", "", "ClusterRole", "gone"),
        );
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            may_list_pods(&policy, &bob, "web"),
            (
                false,
                r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#.to_owned()
            )
        );
    }

    #[test]
    fn from_the_start_masters_may_all_and_others_may_discover() {
        let mut policy = Policy::default();
        for (plural, object) in bootstrap_objects() {
            policy.add(plural, object);
        }
        let bob = User::new("bob", [""; 0]);
        let may_get = |user: &User, path| {
            let target = Target::Path(path);
            policy
                .decide(&Attributes {
                    user,
                    verb: "get",
                    target,
                })
                .is_allowed
        };
        assert!(may_list_pods(&policy, &User::admin(), "web").0);
        assert!(!may_list_pods(&policy, &bob, "web").0);
        assert!(may_get(&bob, "/apis/apps/v1"));
        assert!(may_get(&bob, "/version"));
        assert!(!may_get(&bob, "/metrics"));
        assert!(may_get(&User::admin(), "/metrics"));
    }
}
