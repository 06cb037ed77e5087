//! The objects on the board: those of the operator's kinds, the samples, and what they own.

use std::collections::BTreeSet;

use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use crate::error::Error;
use crate::objects::{Located, ServedKinds, text};

/// Resources in a role that the board shows elsewhere, or not at all.
const HIDDEN: [&str; 3] = ["events", "leases", "pods"];

/// The kinds whose objects are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownKinds {
    /// Kinds that the operator defines.
    defined: Vec<ApiResource>,
    /// Kinds that its role may create and list: its objects can own objects of these.
    created: Vec<ApiResource>,
}

impl ShownKinds {
    /// Finds the kinds in the operator's manifests that the cluster serves.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn of(client: &kube::Client, manifests: &[Value]) -> Result<Self, Error> {
        let kinds = ServedKinds::discover(client).await?;
        let served = |name: &ResourceName| kinds.with_plural(&name.group, &name.plural);
        let defined = defined(manifests);
        let created = created(manifests);
        Ok(Self {
            created: created.difference(&defined).filter_map(served).collect(),
            defined: defined.iter().filter_map(served).collect(),
        })
    }

    /// Returns kind, name and conditions of the operator's objects and of the samples, each followed
    /// by the objects that it owns.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn rows(
        &self,
        client: &kube::Client,
        samples: &[(&Located, Value)],
    ) -> Vec<[String; 3]> {
        let mut roots = Vec::new();
        for kind in &self.defined {
            roots.extend(list(client, kind).await);
        }
        for (located, sample) in samples {
            let is_same =
                |(_, root): &(String, Value)| root["metadata"]["uid"] == sample["metadata"]["uid"];
            if located.resource.kind != "Pod" && !roots.iter().any(is_same) {
                roots.push((located.resource.kind.clone(), sample.clone()));
            }
        }
        let mut others = Vec::new();
        for kind in &self.created {
            others.extend(list(client, kind).await);
        }
        let mut rows = Vec::new();
        for (kind, root) in &roots {
            rows.push(row(kind, root));
            let owned = others.iter().filter(|(_, other)| is_owned(other, root));
            rows.extend(owned.map(|(kind, other)| row(&format!("  {kind}"), other)));
        }
        rows
    }
}

/// The group and the plural of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ResourceName {
    group: String,
    plural: String,
}

impl ResourceName {
    fn new(group: &str, plural: &str) -> Self {
        Self {
            group: group.to_owned(),
            plural: plural.to_owned(),
        }
    }
}

/// Returns the kinds that the manifests define.
fn defined(manifests: &[Value]) -> BTreeSet<ResourceName> {
    manifests
        .iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .map(|definition| {
            let spec = &definition["spec"];
            ResourceName::new(text(&spec["group"]), text(&spec["names"]["plural"]))
        })
        .collect()
}

/// Returns the kinds that the account of the operator may create and list.
fn created(manifests: &[Value]) -> BTreeSet<ResourceName> {
    let bound = bound_roles(manifests);
    let roles = manifests
        .iter()
        .filter(|object| bound.contains(text(&object["metadata"]["name"])));
    let rules = roles.flat_map(|role| role["rules"].as_array().into_iter().flatten());
    let mut created = BTreeSet::new();
    for rule in rules {
        let verbs = strings(&rule["verbs"]);
        if !["create", "list"].iter().all(|verb| verbs.contains(verb)) {
            continue;
        }
        for group in strings(&rule["apiGroups"]) {
            let plurals = strings(&rule["resources"])
                .into_iter()
                .filter(|resource| !resource.contains('/') && !HIDDEN.contains(resource));
            created.extend(plurals.map(|plural| ResourceName::new(group, plural)));
        }
    }
    created
}

/// Returns the names of roles with a binding. The roles for users of the operator have none.
fn bound_roles(manifests: &[Value]) -> BTreeSet<&str> {
    let is_binding = |object: &&Value| {
        matches!(
            object["kind"].as_str(),
            Some("ClusterRoleBinding" | "RoleBinding")
        )
    };
    let bindings = manifests.iter().filter(is_binding);
    bindings
        .map(|binding| text(&binding["roleRef"]["name"]))
        .collect()
}

/// Returns the objects of a kind; none when they cannot be listed.
async fn list(client: &kube::Client, kind: &ApiResource) -> Vec<(String, Value)> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), kind);
    let list = api.list(&ListParams::default()).await;
    let items = list.map(|list| list.items).unwrap_or_default();
    let values = items
        .into_iter()
        .filter_map(|item| serde_json::to_value(item).ok());
    values.map(|value| (kind.kind.clone(), value)).collect()
}

fn is_owned(object: &Value, by: &Value) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let mut owners = owners.into_iter().flatten();
    owners.any(|owner| owner["uid"] == by["metadata"]["uid"])
}

fn row(kind: &str, object: &Value) -> [String; 3] {
    let metadata = &object["metadata"];
    let name = match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{}", text(&metadata["name"])),
        None => text(&metadata["name"]).to_owned(),
    };
    [kind.to_owned(), name, conditions(&object["status"])]
}

/// Returns each condition with its status, and with its reason when it is not `True`.
fn conditions(status: &Value) -> String {
    let conditions = status["conditions"].as_array();
    let shown: Vec<String> = conditions
        .into_iter()
        .flatten()
        .map(|condition| {
            let (name, status) = (text(&condition["type"]), text(&condition["status"]));
            match condition["reason"].as_str() {
                Some(reason) if status != "True" && !reason.is_empty() => {
                    format!("{name}={status} ({reason})")
                }
                _ => format!("{name}={status}"),
            }
        })
        .collect();
    if shown.is_empty() {
        "-".to_owned()
    } else {
        shown.join(" ")
    }
}

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ResourceName, created, defined, row};

    #[test]
    fn created_kinds_are_in_the_role_with_a_binding() {
        let role = |name: &str, groups: Value, resources: Value, verbs: Value| {
            json!({"kind": "ClusterRole", "metadata": {"name": name},
                "rules": [{"apiGroups": groups, "resources": resources, "verbs": verbs}]})
        };
        let manifests = [
            json!({"kind": "CustomResourceDefinition",
                "spec": {"group": "web.example.com", "names": {"plural": "sites"}}}),
            role(
                "sites",
                json!([""]),
                json!(["configmaps", "configmaps/status", "pods"]),
                json!(["create", "list"]),
            ),
            role(
                "site-editor",
                json!(["apps"]),
                json!(["deployments"]),
                json!(["create", "list"]),
            ),
            json!({"kind": "ClusterRoleBinding", "roleRef": {"name": "sites"}}),
        ];
        assert_eq!(
            defined(&manifests).into_iter().collect::<Vec<_>>(),
            [ResourceName::new("web.example.com", "sites")]
        );
        assert_eq!(
            created(&manifests).into_iter().collect::<Vec<_>>(),
            [ResourceName::new("", "configmaps")]
        );
    }

    #[test]
    fn condition_that_is_not_true_is_shown_with_its_reason() {
        let site = json!({"metadata": {"name": "a", "namespace": "default"}, "status": {
            "conditions": [
                {"type": "Ready", "status": "False", "reason": "Waiting"},
                {"type": "Synced", "status": "True", "reason": "Done"},
            ],
        }});
        assert_eq!(
            row("Site", &site),
            ["Site", "default/a", "Ready=False (Waiting) Synced=True"]
        );
        assert_eq!(
            row("Node", &json!({"metadata": {"name": "n"}}))[1..],
            ["n", "-"]
        );
    }
}
