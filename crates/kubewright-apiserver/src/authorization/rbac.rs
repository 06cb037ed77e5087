//! Role-based access control over roles and bindings.

use std::collections::BTreeMap;

use kubewright_core::PolicyRule;
use serde::Deserialize;
use serde_json::Value;

use super::attributes::{Attributes, Target};
use super::rule::allows;
use super::subject::Subject;
use crate::authentication::User;

/// The roles and bindings of one moment, indexed for decisions.
#[derive(Debug, Default)]
pub(crate) struct Rbac {
    /// Rules by namespace and name; cluster roles have an empty namespace.
    roles: BTreeMap<(String, String), Vec<PolicyRule>>,
    /// Bindings by namespace; cluster-wide ones have an empty one.
    bindings: BTreeMap<String, Vec<Binding>>,
}

/// Whether a request is allowed, with the reason that access reviews show.
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

impl Rbac {
    /// The group of roles and bindings.
    pub(crate) const GROUP: &'static str = "rbac.authorization.k8s.io";

    /// Adds a stored role or binding by its plural name. Malformed objects are ignored.
    pub(crate) fn add(&mut self, plural: &str, object: &Value) {
        match plural {
            "roles" | "clusterroles" => self.add_role(object),
            "rolebindings" | "clusterrolebindings" => self.add_binding(object),
            _ => {}
        }
    }

    /// Whether a user is allowed to do what the attributes describe.
    pub(crate) fn decide(&self, attributes: &Attributes<'_>) -> Decision {
        if attributes.user.is_master() {
            return Decision::allowed(String::new());
        }
        let mut faults = Vec::new();
        let namespace = attributes.namespace();
        let mut scopes = vec![""];
        if !namespace.is_empty() && matches!(attributes.target, Target::Resource(_)) {
            scopes.push(namespace);
        }
        for (binding, subject) in self.bindings_of(attributes.user, &scopes) {
            match self.rules(binding) {
                Ok(rules) if rules.iter().any(|rule| allows(rule, attributes)) => {
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

    use super::Rbac;
    use crate::authentication::User;
    use crate::authorization::{Attributes, ResourceTarget, Target, bootstrap_objects};

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

    fn may_list_pods(rbac: &Rbac, user: &User, namespace: &str) -> (bool, String) {
        let target = ResourceTarget {
            plural: "pods",
            namespace,
            ..ResourceTarget::default()
        };
        let decision = rbac.decide(&Attributes {
            user,
            verb: "list",
            target: Target::Resource(target),
        });
        (decision.is_allowed, decision.reason)
    }

    #[test]
    fn a_role_binding_grants_in_its_namespace_only() {
        let mut rbac = Rbac::default();
        rbac.add("roles", &role("reader", "web"));
        rbac.add("rolebindings", &binding("b", "web", "Role", "reader"));
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            may_list_pods(&rbac, &bob, "web"),
            (
                true,
                r#"RBAC: allowed by RoleBinding "b/web" of Role "reader" to User "bob""#.to_owned()
            )
        );
        assert_eq!(may_list_pods(&rbac, &bob, "db"), (false, String::new()));
        assert_eq!(may_list_pods(&rbac, &bob, ""), (false, String::new()));
        let eve = User::new("eve", [""; 0]);
        assert_eq!(may_list_pods(&rbac, &eve, "web"), (false, String::new()));
    }

    #[test]
    fn a_cluster_role_is_granted_everywhere_or_in_one_namespace() {
        let mut rbac = Rbac::default();
        rbac.add("clusterroles", &role("reader", ""));
        rbac.add(
            "rolebindings",
            &binding("b", "web", "ClusterRole", "reader"),
        );
        let bob = User::new("bob", [""; 0]);
        assert!(may_list_pods(&rbac, &bob, "web").0);
        assert!(!may_list_pods(&rbac, &bob, "").0);
        rbac.add(
            "clusterrolebindings",
            &binding("c", "", "ClusterRole", "reader"),
        );
        assert_eq!(
            may_list_pods(&rbac, &bob, ""),
            (
                true,
                r#"RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "reader" to User "bob""#
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_binding_to_a_missing_role_is_told_as_the_reason() {
        let mut rbac = Rbac::default();
        rbac.add(
            "clusterrolebindings",
            &binding("c", "", "ClusterRole", "gone"),
        );
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            may_list_pods(&rbac, &bob, "web"),
            (
                false,
                r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#.to_owned()
            )
        );
    }

    #[test]
    fn from_the_start_masters_may_all_and_others_may_discover() {
        let mut rbac = Rbac::default();
        for (plural, object) in bootstrap_objects() {
            rbac.add(plural, object);
        }
        let bob = User::new("bob", [""; 0]);
        let may_get = |user: &User, path| {
            let target = Target::Path(path);
            rbac.decide(&Attributes {
                user,
                verb: "get",
                target,
            })
            .is_allowed
        };
        assert!(may_list_pods(&rbac, &User::admin(), "web").0);
        assert!(!may_list_pods(&rbac, &bob, "web").0);
        assert!(may_get(&bob, "/apis/apps/v1"));
        assert!(may_get(&bob, "/version"));
        assert!(!may_get(&bob, "/metrics"));
        assert!(may_get(&User::admin(), "/metrics"));
    }
}
