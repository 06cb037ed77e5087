//! Role-based access control over roles and bindings.

use std::collections::BTreeMap;

use kubewright_core::PolicyRule;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::json::text;
use kubewright_kinds::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use serde::Deserialize;
use serde_json::Value;

use super::attributes::{AccessAttributes, AccessTarget};
use super::rule::allows;
use super::subject::Subject;
use crate::aggregate::aggregate;
use crate::authentication::User;

/// The roles and bindings of one moment, indexed for decisions.
#[derive(Debug, Default)]
pub(crate) struct Rbac {
    /// Rules by namespace and name; cluster roles have an empty namespace.
    roles: BTreeMap<(String, String), Vec<PolicyRule>>,
    /// Bindings by namespace; it is empty for ClusterRoleBindings.
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
    /// The kinds of roles and bindings.
    pub(crate) const KINDS: [&'static BuiltinKind; 4] =
        [&ROLE, &CLUSTER_ROLE, &ROLE_BINDING, &CLUSTER_ROLE_BINDING];

    /// Adds a stored role or binding. Malformed objects are ignored.
    pub(crate) fn add(&mut self, kind: &BuiltinKind, object: &Value) {
        if *kind == ROLE || *kind == CLUSTER_ROLE {
            self.add_role(object);
        } else {
            self.add_binding(object);
        }
    }

    /// Whether a user is allowed to do what the attributes describe.
    pub(crate) fn decide(&self, attributes: &AccessAttributes<'_>) -> Decision {
        if attributes.user.is_master() {
            return Decision::allowed(String::new());
        }
        let mut errors = Vec::new();
        let namespace = attributes.namespace();
        let mut scopes = vec![""];
        if !namespace.is_empty() && matches!(attributes.target, AccessTarget::Resource(_)) {
            scopes.push(namespace);
        }
        for (binding, subject) in self.bindings_of(attributes.user, &scopes) {
            match self.rules(binding) {
                Ok(rules) if rules.iter().any(|rule| allows(rule, attributes)) => {
                    return Decision::allowed(binding.describe(subject));
                }
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
        Decision::denied(&errors)
    }

    /// All rules that a user has in a namespace (everywhere, for an empty one), and the errors of
    /// bindings whose role cannot be found.
    pub(crate) fn rules_for(&self, user: &User, namespace: &str) -> (Vec<PolicyRule>, Vec<String>) {
        let mut scopes = vec![""];
        if !namespace.is_empty() {
            scopes.push(namespace);
        }
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for (binding, _) in self.bindings_of(user, &scopes) {
            match self.rules(binding) {
                Ok(rules) => found.extend(rules.iter().cloned()),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }

    /// The rules of the role that a `roleRef` of a binding in a namespace names.
    pub(crate) fn role_rules(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Option<&[PolicyRule]> {
        let namespace = if kind == ROLE.kind {
            namespace
        } else if kind == CLUSTER_ROLE.kind {
            ""
        } else {
            return None;
        };
        let rules = self.roles.get(&(namespace.to_owned(), name.to_owned()));
        rules.map(Vec::as_slice)
    }

    /// The bindings of these scopes that name the user, with the subject that matches.
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
            let subject = subjects.find(|subject| subject.is(user, &binding.namespace))?;
            Some((binding, subject))
        })
    }

    fn rules(&self, binding: &Binding) -> Result<&[PolicyRule], String> {
        let RoleReference { kind, name } = &binding.role;
        if *kind != ROLE.kind && *kind != CLUSTER_ROLE.kind {
            return Err(format!("unsupported role reference kind: {kind:?}"));
        }
        self.role_rules(kind, &binding.namespace, name)
            .ok_or_else(|| {
                let singular = kind.to_lowercase();
                format!("{singular}.{} {name:?} not found", ROLE.group)
            })
    }

    fn add_role(&mut self, object: &Value) {
        let key = (metadata(object, "namespace"), metadata(object, "name"));
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
        let namespace = metadata(object, "namespace");
        self.bindings
            .entry(namespace.clone())
            .or_default()
            .push(Binding {
                name: metadata(object, "name"),
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

    fn denied(errors: &[String]) -> Self {
        let reason = if errors.is_empty() {
            String::new()
        } else {
            format!("RBAC: {}", aggregate(errors))
        };
        Self {
            is_allowed: false,
            reason,
        }
    }
}

impl Binding {
    /// The `status.reason` of a review that this binding allows.
    fn describe(&self, subject: &Subject) -> String {
        let (kind, name) = match self.namespace.as_str() {
            "" => (CLUSTER_ROLE_BINDING.kind, self.name.clone()),
            namespace => (ROLE_BINDING.kind, format!("{}/{namespace}", self.name)),
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

fn metadata(object: &Value, field: &str) -> String {
    text(&object["metadata"][field]).to_owned()
}

#[cfg(test)]
mod tests {
    use kubewright_kinds::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
    use serde_json::{Value, json};

    use super::Rbac;
    use crate::authentication::User;
    use crate::authorization::{AccessAttributes, AccessTarget, ResourceTarget, bootstrap_objects};

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

    fn can_list_pods(rbac: &Rbac, user: &User, namespace: &str) -> (bool, String) {
        let target = ResourceTarget {
            plural: "pods",
            namespace,
            ..ResourceTarget::default()
        };
        let decision = rbac.decide(&AccessAttributes {
            user,
            verb: "list",
            target: AccessTarget::Resource(target),
        });
        (decision.is_allowed, decision.reason)
    }

    #[test]
    fn role_binding_grants_in_its_namespace_only() {
        let mut rbac = Rbac::default();
        rbac.add(&ROLE, &role("reader", "web"));
        rbac.add(&ROLE_BINDING, &binding("b", "web", "Role", "reader"));
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            can_list_pods(&rbac, &bob, "web"),
            (
                true,
                r#"RBAC: allowed by RoleBinding "b/web" of Role "reader" to User "bob""#.to_owned()
            )
        );
        assert_eq!(can_list_pods(&rbac, &bob, "db"), (false, String::new()));
        assert_eq!(can_list_pods(&rbac, &bob, ""), (false, String::new()));
        let eve = User::new("eve", [""; 0]);
        assert_eq!(can_list_pods(&rbac, &eve, "web"), (false, String::new()));
    }

    #[test]
    fn cluster_role_is_granted_everywhere_or_in_one_namespace() {
        let mut rbac = Rbac::default();
        rbac.add(&CLUSTER_ROLE, &role("reader", ""));
        rbac.add(&ROLE_BINDING, &binding("b", "web", "ClusterRole", "reader"));
        let bob = User::new("bob", [""; 0]);
        assert!(can_list_pods(&rbac, &bob, "web").0);
        assert!(!can_list_pods(&rbac, &bob, "").0);
        rbac.add(
            &CLUSTER_ROLE_BINDING,
            &binding("c", "", "ClusterRole", "reader"),
        );
        assert_eq!(
            can_list_pods(&rbac, &bob, ""),
            (
                true,
                r#"RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "reader" to User "bob""#
                    .to_owned()
            )
        );
    }

    #[test]
    fn binding_to_a_missing_role_is_the_reason_of_the_denial() {
        let mut rbac = Rbac::default();
        rbac.add(
            &CLUSTER_ROLE_BINDING,
            &binding("c", "", "ClusterRole", "gone"),
        );
        let bob = User::new("bob", [""; 0]);
        assert_eq!(
            can_list_pods(&rbac, &bob, "web"),
            (
                false,
                r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#.to_owned()
            )
        );
    }

    #[test]
    fn bootstrap_roles_allow_masters_everything_and_others_discovery() {
        let mut rbac = Rbac::default();
        for (kind, object) in bootstrap_objects() {
            rbac.add(kind, object);
        }
        let bob = User::new("bob", [""; 0]);
        let can_get = |user: &User, path| {
            let target = AccessTarget::Path(path);
            rbac.decide(&AccessAttributes {
                user,
                verb: "get",
                target,
            })
            .is_allowed
        };
        assert!(can_list_pods(&rbac, &User::admin(), "web").0);
        assert!(!can_list_pods(&rbac, &bob, "web").0);
        assert!(can_get(&bob, "/apis/apps/v1"));
        assert!(can_get(&bob, "/version"));
        assert!(!can_get(&bob, "/metrics"));
        assert!(can_get(&User::admin(), "/metrics"));
    }
}
