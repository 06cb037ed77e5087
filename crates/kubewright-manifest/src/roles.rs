use kubewright_core::{Description, PolicyRule};
use serde_json::{Value, json};

use crate::objects::labels;

/// What the operator's account may do, and where: a ClusterRole, unless it is restricted to some
/// namespaces, in which it then has a Role each; and a Role in its own namespace for its Lease.
/// What would grant nothing is left out.
///
/// `further` rules hold for the whole cluster in any case.
pub(crate) fn roles(
    description: &Description,
    namespace: &str,
    further: Vec<PolicyRule>,
) -> Vec<Value> {
    let name = description.name.as_str();
    let grant = |place: Option<&str>, name: &str, rules: Vec<PolicyRule>| {
        let account = json!({
            "kind": "ServiceAccount",
            "name": description.name,
            "namespace": namespace,
        });
        granted(name, place, &labels(description), (rules, account))
    };
    let restricted = description.namespaces.iter();
    let restricted = restricted.map(|place| (Some(place.as_str()), description.namespace_rules()));
    let mut everywhere = description.cluster_rules();
    everywhere.extend(further);
    let mut objects = Vec::new();
    for (place, rules) in [(None, everywhere)].into_iter().chain(restricted) {
        // An operator without any rights has a role that says so.
        if !rules.is_empty() || (place.is_none() && description.namespaces.is_empty()) {
            objects.extend(grant(place, name, rules));
        }
    }
    let own = description.own_namespace_rules();
    if !own.is_empty() {
        objects.extend(grant(
            Some(namespace),
            &format!("{name}-leader-election"),
            own,
        ));
    }
    objects
}

/// A role with these rules, in `place` or for the whole cluster, and its binding to the account.
fn granted(
    name: &str,
    place: Option<&str>,
    labels: &Value,
    (rules, account): (Vec<PolicyRule>, Value),
) -> [Value; 2] {
    let (role, binding) = match place {
        Some(_) => ("Role", "RoleBinding"),
        None => ("ClusterRole", "ClusterRoleBinding"),
    };
    let mut metadata = json!({"name": name, "labels": labels});
    if let Some(place) = place {
        metadata["namespace"] = json!(place);
    }
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": role,
            "metadata": metadata,
            "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": binding,
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
            "subjects": [account],
        }),
    ]
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

    fn places(objects: &[Value]) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let place = |one: &Value| {
            let metadata = &one["metadata"];
            format!(
                "{} {} {}",
                text(&one["kind"]),
                text(&metadata["namespace"]),
                text(&metadata["name"])
            )
        };
        objects.iter().map(place).collect()
    }

    #[test]
    fn an_operator_of_the_whole_cluster_has_one_role() {
        let objects = roles(&description(), "sets-system", Vec::new());
        assert_eq!(
            places(&objects),
            ["ClusterRole - sets", "ClusterRoleBinding - sets"]
        );
    }

    #[test]
    fn an_operator_of_some_namespaces_has_a_role_in_each_of_them() {
        let mut description = description();
        description.namespaces = ["shop".to_owned(), "web".to_owned()].into();
        let objects = roles(&description, "sets-system", Vec::new());
        assert_eq!(
            places(&objects),
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
    fn the_lease_is_granted_where_the_operator_runs() {
        let mut description = description();
        description.lease = Some("sets".to_owned());
        let objects = roles(&description, "sets-system", Vec::new());
        assert_eq!(
            places(&objects)[2..],
            [
                "Role sets-system sets-leader-election",
                "RoleBinding sets-system sets-leader-election"
            ]
        );
    }
}
