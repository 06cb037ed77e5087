//! Roles and bindings of an operator's ServiceAccount.

use kubewright_core::{Description, PolicyRule};
use serde_json::{Value, json};

use crate::names::labels;

/// The roles and bindings of the operator's account: a ClusterRole, or, for an operator that is
/// restricted to some namespaces, a Role in each; and a Role in its own namespace for its Lease.
/// Roles without rules are omitted.
///
/// `further` rules are always part of the ClusterRole.
pub(crate) fn roles(
    description: &Description,
    namespace: &str,
    further: Vec<PolicyRule>,
) -> Vec<Value> {
    let grants = Grants {
        account: json!({
            "kind": "ServiceAccount",
            "name": description.name,
            "namespace": namespace,
        }),
        labels: labels(description),
    };
    let name = description.name.as_str();
    let mut cluster_rules = description.cluster_rules();
    cluster_rules.extend(further);
    let mut objects = Vec::new();
    // An unrestricted operator without permissions has an empty ClusterRole.
    if !cluster_rules.is_empty() || description.namespaces.is_empty() {
        objects.extend(grants.in_cluster(name, &cluster_rules));
    }
    for restricted in &description.namespaces {
        let rules = description.namespace_rules();
        if !rules.is_empty() {
            objects.extend(grants.in_namespace(restricted, name, &rules));
        }
    }
    let own_rules = description.own_namespace_rules();
    if !own_rules.is_empty() {
        let role = format!("{name}-leader-election");
        objects.extend(grants.in_namespace(namespace, &role, &own_rules));
    }
    objects
}

/// Creates roles, and bindings to one account.
struct Grants {
    account: Value,
    labels: Value,
}

impl Grants {
    fn in_cluster(&self, name: &str, rules: &[PolicyRule]) -> [Value; 2] {
        let metadata = json!({"name": name, "labels": self.labels});
        self.role_and_binding("ClusterRole", &metadata, rules)
    }

    fn in_namespace(&self, namespace: &str, name: &str, rules: &[PolicyRule]) -> [Value; 2] {
        let metadata = json!({"name": name, "labels": self.labels, "namespace": namespace});
        self.role_and_binding("Role", &metadata, rules)
    }

    fn role_and_binding(&self, kind: &str, metadata: &Value, rules: &[PolicyRule]) -> [Value; 2] {
        [
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": kind,
                "metadata": metadata,
                "rules": rules,
            }),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": format!("{kind}Binding"),
                "metadata": metadata,
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": kind,
                    "name": metadata["name"],
                },
                "subjects": [self.account],
            }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::{ControllerDescription, Description, Kind, Resource, Scope, Use};
    use serde_json::{Value, json};

    use super::roles;

    fn description() -> Description {
        let set = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        let node = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
        Description {
            name: "sets".to_owned(),
            controllers: vec![ControllerDescription {
                name: "set".to_owned(),
                resource: set,
                uses: vec![(node, Use::Reads)],
            }],
            ..Description::default()
        }
    }

    /// Kind, namespace and name of each object.
    fn keys(objects: &[Value]) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let key = |object: &Value| {
            let metadata = &object["metadata"];
            format!(
                "{} {} {}",
                text(&object["kind"]),
                text(&metadata["namespace"]),
                text(&metadata["name"])
            )
        };
        objects.iter().map(key).collect()
    }

    #[test]
    fn unrestricted_operator_has_one_cluster_role() {
        let objects = roles(&description(), "sets-system", Vec::new());
        assert_eq!(
            keys(&objects),
            ["ClusterRole - sets", "ClusterRoleBinding - sets"]
        );
    }

    #[test]
    fn restricted_operator_has_a_role_in_each_namespace() {
        let mut description = description();
        description.namespaces = ["shop".to_owned(), "web".to_owned()].into();
        let objects = roles(&description, "sets-system", Vec::new());
        assert_eq!(
            keys(&objects),
            [
                "ClusterRole - sets",
                "ClusterRoleBinding - sets",
                "Role shop sets",
                "RoleBinding shop sets",
                "Role web sets",
                "RoleBinding web sets",
            ]
        );
        assert_eq!(objects[0]["rules"][0]["resources"], json!(["nodes"]));
        assert_eq!(objects[2]["rules"][0]["resources"], json!(["sets"]));
        assert_eq!(objects[3]["subjects"][0]["namespace"], "sets-system");
        assert_eq!(objects[3]["roleRef"]["kind"], "Role");
    }

    #[test]
    fn lease_is_granted_in_the_namespace_of_the_operator() {
        let mut description = description();
        description.lease = Some("sets".to_owned());
        let objects = roles(&description, "sets-system", Vec::new());
        assert_eq!(
            keys(&objects)[2..],
            [
                "Role sets-system sets-leader-election",
                "RoleBinding sets-system sets-leader-election"
            ]
        );
    }
}
