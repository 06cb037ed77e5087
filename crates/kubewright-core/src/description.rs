//! `Description`: what an operator registers, and the RBAC rules that follow from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kind::{Resource, Scope};
use crate::policy::PolicyDescription;
use crate::webhook::{ConversionDescription, WebhookDescription};

/// What an operator registers, as a plain value: manifests, roles and the check on each request
/// are computed from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// The operator's name; its ServiceAccount and roles carry it.
    pub name: String,
    /// The controllers, in the order of their registration.
    pub controllers: Vec<ControllerDescription>,
    /// The CustomResourceDefinitions that the operator installs, as JSON objects.
    pub custom_resources: Vec<serde_json::Value>,
    /// The webhooks, in the order of their registration.
    pub webhooks: Vec<WebhookDescription>,
    /// The admission policies, in the order of their registration.
    pub policies: Vec<PolicyDescription>,
    /// Whether the webhooks replace the policies, for a cluster that does not serve policies.
    pub uses_policy_fallbacks: bool,
    /// The kinds that are converted between versions.
    pub conversions: Vec<ConversionDescription>,
    /// Whether the operator serves an authorization webhook.
    pub authorizes: bool,
    /// Rules granted besides those that follow from the controllers and webhooks.
    pub extra_rules: Vec<PolicyRule>,
    /// The namespaces that the operator is restricted to; empty means all.
    pub namespaces: BTreeSet<String>,
    /// The Lease for leader election, in the operator's own namespace.
    pub lease: Option<String>,
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
    /// Reconciles after their changes.
    Watches,
    /// Reads without reconciling after their changes.
    Reads,
    /// Writes with the given verbs.
    Writes(BTreeSet<Verb>),
}

/// The verb of a request, as roles spell it.
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
    /// Creates an object.
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
    /// API groups; `*` means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Plural names; a subresource is `plural/subresource`.
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
    /// Verbs; `*` means all.
    pub verbs: Vec<String>,
}

impl PolicyRule {
    /// Whether the rule grants `verb` on `resource` (`pods` or `pods/status`) of `group` for objects
    /// of every name.
    pub fn allows(&self, verb: &str, group: &str, resource: &str) -> bool {
        let matches = |allowed: &[String], wanted: &str| {
            allowed.iter().any(|name| name == "*" || name == wanted)
        };
        self.resource_names.is_empty()
            && matches(&self.verbs, verb)
            && matches(&self.api_groups, group)
            && matches(&self.resources, resource)
    }

    /// Whether it grants paths outside the API, which only a ClusterRole can.
    fn is_non_resource(&self) -> bool {
        !self.non_resource_urls.is_empty()
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
        conversions.find(|conversion| conversion.hub.qualified_name() == definition)
    }

    /// The least privileges that the operator needs: one rule per group and set of verbs, sorted,
    /// followed by the extra rules.
    ///
    /// A controller reads its own kind and patches its status; a webhook reads its
    /// [`reads`](WebhookDescription::reads). Owning adds create, patch and delete of the owned
    /// kind, and `update` of the owner's `finalizers`, which an owner reference that blocks
    /// deletion needs.
    pub fn rules(&self) -> Vec<PolicyRule> {
        let computed = grouped(&self.granted(), |_| true);
        computed
            .into_iter()
            .chain(self.extra_rules.clone())
            .collect()
    }

    /// The rules of the ClusterRole: all, unless the operator is restricted to some namespaces;
    /// then only cluster-scoped kinds and paths outside the API.
    pub fn cluster_rules(&self) -> Vec<PolicyRule> {
        if self.namespaces.is_empty() {
            return self.rules();
        }
        let computed = grouped(&self.granted(), |scope| scope == Scope::Cluster);
        let extra = self
            .extra_rules
            .iter()
            .filter(|rule| rule.is_non_resource());
        computed.into_iter().chain(extra.cloned()).collect()
    }

    /// The rules of the Role in each namespace that the operator is restricted to; none when it is
    /// not restricted. They include the extra rules, which grant nothing for a cluster-scoped kind.
    pub fn namespace_rules(&self) -> Vec<PolicyRule> {
        if self.namespaces.is_empty() {
            return Vec::new();
        }
        let computed = grouped(&self.granted(), |scope| scope == Scope::Namespaced);
        let extra = self
            .extra_rules
            .iter()
            .filter(|rule| !rule.is_non_resource());
        computed.into_iter().chain(extra.cloned()).collect()
    }

    /// The rules for the namespace that the operator runs in: those of its Lease. `create` cannot
    /// be restricted to a name.
    pub fn own_namespace_rules(&self) -> Vec<PolicyRule> {
        let Some(lease) = &self.lease else {
            return Vec::new();
        };
        let leases = |names: &[&String], verbs: &[Verb]| PolicyRule {
            api_groups: vec!["coordination.k8s.io".to_owned()],
            resources: vec!["leases".to_owned()],
            resource_names: names.iter().map(|&name| name.clone()).collect(),
            verbs: verbs.iter().map(ToString::to_string).collect(),
            ..PolicyRule::default()
        };
        vec![
            leases(&[], &[Verb::Create]),
            leases(&[lease], &[Verb::Get, Verb::Update]),
        ]
    }

    fn granted(&self) -> Granted {
        let mut granted = Granted::new();
        let mut grant = |scope: Scope, group: &str, resource: String, verbs: &[Verb]| {
            let key = (group.to_owned(), resource);
            let (_, all) = granted.entry(key).or_insert((scope, BTreeSet::new()));
            all.extend(verbs);
        };
        for controller in &self.controllers {
            let own = &controller.resource;
            let (scope, group, plural) = (own.scope, own.kind.group(), &own.plural);
            grant(scope, group, plural.clone(), &READ);
            grant(scope, group, format!("{plural}/status"), &[Verb::Patch]);
            for (resource, usage) in &controller.uses {
                let (used_scope, used_group) = (resource.scope, resource.kind.group());
                let used = resource.plural.clone();
                match usage {
                    Use::Owns => {
                        let writes = [Verb::Create, Verb::Patch, Verb::Delete];
                        grant(used_scope, used_group, used.clone(), &READ);
                        grant(used_scope, used_group, used, &writes);
                        grant(
                            scope,
                            group,
                            format!("{plural}/finalizers"),
                            &[Verb::Update],
                        );
                    }
                    Use::Watches | Use::Reads => grant(used_scope, used_group, used, &READ),
                    Use::Writes(verbs) => {
                        let writes: Vec<_> = verbs.iter().copied().collect();
                        grant(used_scope, used_group, used, &writes);
                    }
                }
            }
        }
        for read in self.webhooks.iter().flat_map(|webhook| &webhook.reads) {
            grant(read.scope, read.kind.group(), read.plural.clone(), &READ);
        }
        granted
    }
}

/// Scope and verbs by group and resource.
type Granted = BTreeMap<(String, String), (Scope, BTreeSet<Verb>)>;

/// One rule per group and set of verbs, sorted.
fn grouped(granted: &Granted, includes: impl Fn(Scope) -> bool) -> Vec<PolicyRule> {
    let mut resources: BTreeMap<(&String, &BTreeSet<Verb>), Vec<String>> = BTreeMap::new();
    for ((group, resource), (scope, verbs)) in granted {
        if includes(*scope) {
            resources
                .entry((group, verbs))
                .or_default()
                .push(resource.clone());
        }
    }
    resources
        .into_iter()
        .map(|((group, verbs), resources)| PolicyRule {
            api_groups: vec![group.clone()],
            resources,
            verbs: verbs.iter().map(ToString::to_string).collect(),
            ..PolicyRule::default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ControllerDescription, Description, PolicyRule, Use};
    use crate::{Kind, Resource, Scope};

    #[test]
    fn owning_grants_exactly_what_apply_and_delete_need() {
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

    #[test]
    fn restricted_operator_gets_cluster_rules_only_for_cluster_scoped_kinds() {
        let set = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        let node = Resource::new(Kind::new("", "v1", "Node"), "nodes", Scope::Cluster);
        let mut description = Description {
            name: "sets".to_owned(),
            controllers: vec![ControllerDescription {
                name: "set".to_owned(),
                resource: set,
                uses: vec![(node, Use::Reads)],
            }],
            extra_rules: vec![PolicyRule {
                non_resource_urls: vec!["/metrics".to_owned()],
                verbs: vec!["get".to_owned()],
                ..PolicyRule::default()
            }],
            lease: Some("sets".to_owned()),
            ..Description::default()
        };
        assert_eq!(description.cluster_rules(), description.rules());
        assert!(description.namespace_rules().is_empty());
        description.namespaces.insert("shop".to_owned());
        let resources = |rules: Vec<PolicyRule>| -> Vec<String> {
            rules.into_iter().flat_map(|rule| rule.resources).collect()
        };
        assert_eq!(resources(description.cluster_rules()), ["nodes"]);
        assert_eq!(description.cluster_rules().len(), 2);
        assert_eq!(
            resources(description.namespace_rules()),
            ["sets", "sets/status"]
        );
        let own = description.own_namespace_rules();
        assert_eq!(own[0].verbs, ["create"]);
        assert_eq!(own[1].resource_names, ["sets"]);
        assert_eq!(own[1].verbs, ["get", "update"]);
    }
}
