use std::collections::BTreeSet;

use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use crate::error::Error;
use crate::objects::{Kinds, Located};

/// Kinds that a role names and that say nothing about an operator's work, or have their own place
/// on the board.
const LEFT_OUT: [&str; 3] = ["events", "leases", "pods"];

/// The kinds whose objects are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// Those that the operator defines.
    own: Vec<ApiResource>,
    /// Those that its role lets it make and list: what it owns is among them.
    made: Vec<ApiResource>,
}

impl Shown {
    /// By the operator's manifests, as far as the cluster serves the kinds.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn of(client: &kube::Client, manifests: &[Value]) -> Result<Self, Error> {
        let kinds = Kinds::discover(client).await?;
        let own = defined(manifests);
        let made = made(manifests).into_iter().filter(|one| !own.contains(one));
        let served = |(group, plural): &(String, String)| kinds.named(group, plural);
        Ok(Self {
            own: own.iter().filter_map(served).collect(),
            made: made.filter_map(|one| served(&one)).collect(),
        })
    }

    /// Kind, name and conditions of the operator's own objects and of the samples, each followed
    /// by what it owns.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn look(
        &self,
        client: &kube::Client,
        samples: &[(&Located, Value)],
    ) -> Vec<[String; 3]> {
        let mut roots = Vec::new();
        for kind in &self.own {
            roots.extend(list(client, kind).await);
        }
        for (place, sample) in samples {
            let is_same =
                |(_, root): &(String, Value)| root["metadata"]["uid"] == sample["metadata"]["uid"];
            if place.resource.kind != "Pod" && !roots.iter().any(is_same) {
                roots.push((place.resource.kind.clone(), sample.clone()));
            }
        }
        let mut others = Vec::new();
        for kind in &self.made {
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

/// Group and plural of the kinds that the manifests define.
fn defined(manifests: &[Value]) -> BTreeSet<(String, String)> {
    let definitions = manifests
        .iter()
        .filter(|one| one["kind"] == "CustomResourceDefinition");
    let name = |one: &Value| {
        let spec = &one["spec"];
        (text(&spec["group"]), text(&spec["names"]["plural"]))
    };
    definitions.map(name).collect()
}

/// Group and plural of the kinds that the manifests' account may make and list.
fn made(manifests: &[Value]) -> BTreeSet<(String, String)> {
    let bound = bound_roles(manifests);
    let roles = manifests
        .iter()
        .filter(|one| bound.contains(&text(&one["metadata"]["name"])));
    let rules = roles.flat_map(|role| role["rules"].as_array().into_iter().flatten());
    let mut made = BTreeSet::new();
    for rule in rules {
        let verbs = words(&rule["verbs"]);
        if !["create", "list"].iter().all(|verb| verbs.contains(verb)) {
            continue;
        }
        for group in words(&rule["apiGroups"]) {
            let resources = words(&rule["resources"]).into_iter();
            let whole = resources.filter(|one| !one.contains('/') && !LEFT_OUT.contains(one));
            made.extend(whole.map(|one| (group.to_owned(), one.to_owned())));
        }
    }
    made
}

/// The names of the roles that somebody is given; those for people are given to nobody.
fn bound_roles(manifests: &[Value]) -> BTreeSet<String> {
    let is_binding = |one: &&Value| {
        matches!(
            one["kind"].as_str(),
            Some("ClusterRoleBinding" | "RoleBinding")
        )
    };
    let bindings = manifests.iter().filter(is_binding);
    bindings.map(|one| text(&one["roleRef"]["name"])).collect()
}

/// What may not be listed is not shown.
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
        None => text(&metadata["name"]),
    };
    [kind.to_owned(), name, conditions(&object["status"])]
}

/// Each condition with its status; one that does not hold with its reason.
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
    match shown.is_empty() {
        true => "-".to_owned(),
        false => shown.join(" "),
    }
}

fn words(value: &Value) -> Vec<&str> {
    let words = value.as_array().into_iter().flatten();
    words.filter_map(Value::as_str).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{defined, made, row};

    #[test]
    fn what_an_operator_makes_is_in_the_role_that_its_account_has() {
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
        let pair = |group: &str, plural: &str| (group.to_owned(), plural.to_owned());
        assert_eq!(
            defined(&manifests).into_iter().collect::<Vec<_>>(),
            [pair("web.example.com", "sites")]
        );
        assert_eq!(
            made(&manifests).into_iter().collect::<Vec<_>>(),
            [pair("", "configmaps")]
        );
    }

    #[test]
    fn a_condition_that_does_not_hold_is_shown_with_its_reason() {
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
