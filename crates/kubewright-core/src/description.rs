use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ConversionDescription, Resource, WebhookDescription};

/// What an operator registers, as a plain value: manifests, roles and the check on each request
/// are computed from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// The operator's name; its ServiceAccount and roles carry it.
    pub name: String,
    /// The controllers, in the order of their registration.
    pub controllers: Vec<ControllerDescription>,
    /// The CustomResourceDefinitions that the operator brings along, as JSON objects.
    pub custom_resources: Vec<serde_json::Value>,
    /// The webhooks, in the order of their registration.
    pub webhooks: Vec<WebhookDescription>,
    /// The kinds that are converted between versions.
    pub conversions: Vec<ConversionDescription>,
    /// Whether the API server may ask the operator what users may do.
    pub authorizes: bool,
    /// Rules granted beside those that follow from the controllers and webhooks.
    pub extra_rules: Vec<PolicyRule>,
}

/// One controller of a [`Description`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerDescription {
    /// Names the controller in logs and metrics.
    pub name: String,
    /// The kind whose objects it reconciles.
    pub resource: Resource,
    /// What it does with other kinds.
    pub uses: Vec<(Resource, Use)>,
}

/// What a controller does with a kind that is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// Creates, changes and deletes objects that belong to its own.
    Owns,
    /// Is woken by changes.
    Watches,
    /// Reads without being woken.
    Reads,
    /// Writes with the given verbs.
    Writes(BTreeSet<Verb>),
}

/// What a request does, as roles spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection.
    Watch,
    /// Makes an object.
    Create,
    /// Replaces an object.
    Update,
    /// Changes parts of an object.
    Patch,
    /// Deletes one object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
}

impl Verb {
    /// The spelling in roles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One rule of a Role or ClusterRole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// API groups; `*` stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Plural names, with `/subresource` where one is meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Names the rule is restricted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Paths outside the API, for ClusterRoles.
    #[serde(
        default,
        rename = "nonResourceURLs",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub non_resource_urls: Vec<String>,
    /// Verbs; `*` stands for all.
    pub verbs: Vec<String>,
}

impl PolicyRule {
    /// Whether the rule lets `verb` be used on `resource` (`pods` or `pods/status`) of `group`,
    /// whatever the object's name.
    pub fn allows(&self, verb: &str, group: &str, resource: &str) -> bool {
        let matches = |allowed: &[String], wanted: &str| {
            allowed.iter().any(|one| one == "*" || one == wanted)
        };
        self.resource_names.is_empty()
            && matches(&self.verbs, verb)
            && matches(&self.api_groups, group)
            && matches(&self.resources, resource)
    }
}

const READ: [Verb; 3] = [Verb::Get, Verb::List, Verb::Watch];

impl Description {
    /// Whether the API server calls the operator at all.
    pub fn serves(&self) -> bool {
        !self.webhooks.is_empty() || !self.conversions.is_empty() || self.authorizes
    }

    /// The conversion of the kind that a CustomResourceDefinition of this name defines.
    pub fn conversion_of(&self, definition: &str) -> Option<&ConversionDescription> {
        let mut conversions = self.conversions.iter();
        conversions.find(|one| one.hub.qualified_name() == definition)
    }

    /// The least that the operator needs: one rule per group and set of verbs, sorted, followed
    /// by the extra rules.
    ///
    /// A controller reads its own kind and patches its status; a webhook reads what it says it
    /// reads. Owning adds create, patch and
    /// delete of the owned kind, and the right to be named an owner that blocks deletion.
    pub fn rules(&self) -> Vec<PolicyRule> {
        let mut granted: BTreeMap<(String, String), BTreeSet<Verb>> = BTreeMap::new();
        let mut grant = |group: &str, resource: String, verbs: &[Verb]| {
            granted
                .entry((group.to_owned(), resource))
                .or_default()
                .extend(verbs);
        };
        for controller in &self.controllers {
            let (group, plural) = (
                controller.resource.kind.group(),
                &controller.resource.plural,
            );
            grant(group, plural.clone(), &READ);
            grant(group, format!("{plural}/status"), &[Verb::Patch]);
            for (resource, usage) in &controller.uses {
                let (used_group, used) = (resource.kind.group(), resource.plural.clone());
                match usage {
                    Use::Owns => {
                        grant(used_group, used.clone(), &READ);
                        grant(used_group, used, &[Verb::Create, Verb::Patch, Verb::Delete]);
                        grant(group, format!("{plural}/finalizers"), &[Verb::Update]);
                    }
                    Use::Watches | Use::Reads => grant(used_group, used, &READ),
                    Use::Writes(verbs) => {
                        grant(used_group, used, &verbs.iter().copied().collect::<Vec<_>>());
                    }
                }
            }
        }
        for read in self.webhooks.iter().flat_map(|webhook| &webhook.reads) {
            grant(read.kind.group(), read.plural.clone(), &READ);
        }
        let mut rules: BTreeMap<(String, BTreeSet<Verb>), Vec<String>> = BTreeMap::new();
        for ((group, resource), verbs) in granted {
            rules.entry((group, verbs)).or_default().push(resource);
        }
        let computed = rules
            .into_iter()
            .map(|((group, verbs), resources)| PolicyRule {
                api_groups: vec![group],
                resources,
                verbs: verbs.iter().map(ToString::to_string).collect(),
                ..PolicyRule::default()
            });
        computed.chain(self.extra_rules.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{ControllerDescription, Description, Use};
    use crate::{Kind, Resource, Scope};

    #[test]
    fn owning_grants_what_apply_and_delete_need_and_nothing_more() {
        let set = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        let pod = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
        let node = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
        let description = Description {
            name: "sets".to_owned(),
            controllers: vec![ControllerDescription {
                name: "set".to_owned(),
                resource: set,
                uses: vec![(pod, Use::Owns), (node, Use::Watches)],
            }],
            ..Description::default()
        };
        let rules: Vec<_> = description
            .rules()
            .into_iter()
            .map(|rule| {
                format!(
                    "{:?} {} {}",
                    rule.api_groups[0],
                    rule.resources.join(","),
                    rule.verbs.join(",")
                )
            })
            .collect();
        assert_eq!(
            rules,
            [
                r#""" nodes get,list,watch"#,
                r#""" pods get,list,watch,create,patch,delete"#,
                r#""ex.io" sets get,list,watch"#,
                r#""ex.io" sets/finalizers update"#,
                r#""ex.io" sets/status patch"#,
            ]
        );
        let allowed = |verb, group, resource| {
            description
                .rules()
                .iter()
                .any(|rule| rule.allows(verb, group, resource))
        };
        assert!(allowed("patch", "", "pods"));
        assert!(!allowed("update", "", "pods"));
        assert!(!allowed("patch", "", "pods/status"));
        assert!(!allowed("get", "ex.io", "pods"));
    }
}
