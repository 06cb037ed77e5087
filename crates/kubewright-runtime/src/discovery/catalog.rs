//! The kinds that a server serves, and how they are looked up by name.

use kube::core::{ApiResource, GroupVersionKind};
use kubewright_core::{GroupVersion, Kind, Resource, Scope};

use super::documents::{GroupList, ResourceList};

/// The kinds that a server serves, at the time of discovery.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Groups in the server's order, which decides between kinds of the same name.
    pub(super) groups: GroupList,
    pub(super) lists: Vec<ResourceList>,
}

/// A kind that a server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// Kind, plural name and scope.
    pub resource: Resource,
    /// The singular name, such as `deployment`.
    pub singular: String,
    /// Short names, such as `deploy`.
    pub short_names: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// The supported verbs, such as `list`.
    pub verbs: Vec<String>,
    /// Subresources, such as `scale`.
    pub subresources: Vec<String>,
}

impl Catalog {
    /// All kinds of all versions, the preferred version of a group first.
    pub fn all(&self) -> impl Iterator<Item = ServedKind> {
        let groups = self.groups.groups.iter();
        let versions = groups.flat_map(|group| {
            let preferred = &group.preferred_version;
            let others = group
                .versions
                .iter()
                .filter(move |version| *version != preferred);
            std::iter::once(preferred).chain(others)
        });
        versions
            .filter_map(|version| {
                let mut lists = self.lists.iter();
                lists.find(|list| list.group_version == version.group_version)
            })
            .flat_map(ResourceList::served)
    }

    /// The kind in exactly this version.
    pub fn of_kind(&self, kind: &Kind) -> Option<ServedKind> {
        self.all().find(|served| served.resource.kind == *kind)
    }

    /// The kind of a group in its preferred version.
    pub fn preferred(&self, group: &str, kind: &str) -> Option<ServedKind> {
        let matches = |served: &ServedKind| {
            let found = &served.resource.kind;
            found.group() == group && found.kind == kind
        };
        self.all().find(matches)
    }

    /// The kind with this name on a command line: `deployments`, `Deployment`, `deploy`,
    /// `deployments.apps` or `deployments.v1.apps`.
    pub fn resolve(&self, name: &str) -> Option<ServedKind> {
        let (name, rest) = name.split_once('.').unwrap_or((name, ""));
        let name = name.to_lowercase();
        let matches = |served: &ServedKind| {
            let group = served.resource.kind.group();
            let version = served.resource.kind.version();
            served.has_name(&name)
                && (rest.is_empty() || rest == group || rest == format!("{version}.{group}"))
        };
        self.all().find(matches)
    }

    /// The kinds of a category, such as `all`, each in its preferred version.
    pub fn category(&self, category: &str) -> Vec<ServedKind> {
        let mut found: Vec<ServedKind> = Vec::new();
        for served in self.all() {
            let is_known = found.iter().any(|known| {
                let (known, other) = (&known.resource, &served.resource);
                known.kind.group() == other.kind.group() && known.plural == other.plural
            });
            if !is_known && served.categories.iter().any(|name| name == category) {
                found.push(served);
            }
        }
        found
    }

    /// Whether the catalog contains no kind.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }
}

impl ServedKind {
    /// The kind as kube's dynamic client needs it.
    pub fn api_resource(&self) -> ApiResource {
        let kind = &self.resource.kind;
        let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), &kind.kind);
        ApiResource::from_gvk_with_plural(&gvk, &self.resource.plural)
    }

    fn has_name(&self, name: &str) -> bool {
        self.resource.plural == name
            || self.singular == name
            || self.resource.kind.kind.to_lowercase() == name
            || self.short_names.iter().any(|short| short == name)
    }
}

impl ResourceList {
    /// The kinds of this version, without their subresources.
    fn served(&self) -> impl Iterator<Item = ServedKind> {
        let version = GroupVersion::from_api_version(&self.group_version);
        let kinds = self
            .resources
            .iter()
            .filter(|entry| !entry.name.contains('/'));
        kinds.map(move |entry| {
            let kind = Kind::new(&version.group, &version.version, &entry.kind);
            let scope = if entry.namespaced {
                Scope::Namespaced
            } else {
                Scope::Cluster
            };
            let prefix = format!("{}/", entry.name);
            let names = self.resources.iter().map(|entry| &entry.name);
            let subresources = names.filter_map(|name| name.strip_prefix(&prefix));
            ServedKind {
                resource: Resource::new(kind, &entry.name, scope),
                singular: entry.singular_name.clone(),
                short_names: entry.short_names.clone(),
                categories: entry.categories.clone(),
                verbs: entry.verbs.clone(),
                subresources: subresources.map(str::to_owned).collect(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Catalog;

    fn catalog() -> Catalog {
        let version = |version: &str| json!({"groupVersion": version, "version": "v1"});
        let groups = json!({"groups": [
            {"name": "", "versions": [version("v1")], "preferredVersion": version("v1")},
            {"name": "apps",
             "versions": [version("apps/v1beta1"), version("apps/v1")],
             "preferredVersion": version("apps/v1")},
        ]});
        let deployments = json!([
            {"name": "deployments", "singularName": "deployment", "namespaced": true,
             "kind": "Deployment", "verbs": ["get"], "shortNames": ["deploy"],
             "categories": ["all"]},
            {"name": "deployments/scale", "namespaced": true, "kind": "Scale", "verbs": ["get"]},
        ]);
        let lists = json!([
            {"groupVersion": "v1", "resources": [
                {"name": "nodes", "singularName": "node", "kind": "Node", "verbs": ["get"],
                 "shortNames": ["no"]}]},
            {"groupVersion": "apps/v1beta1", "resources": deployments},
            {"groupVersion": "apps/v1", "resources": deployments},
        ]);
        Catalog {
            groups: serde_json::from_value(groups).unwrap(),
            lists: serde_json::from_value(lists).unwrap(),
        }
    }

    #[test]
    fn kind_is_found_by_each_of_its_names() {
        let catalog = catalog();
        for name in [
            "deployments",
            "deployment",
            "Deployment",
            "deploy",
            "deploy.apps",
            "deployments.v1.apps",
        ] {
            let found = catalog.resolve(name).expect(name);
            assert_eq!(found.resource.kind.api_version(), "apps/v1", "{name}");
            assert_eq!(found.subresources, ["scale"]);
        }
        let older = catalog.resolve("deploy.v1beta1.apps").unwrap();
        assert_eq!(older.resource.kind.api_version(), "apps/v1beta1");
        assert_eq!(catalog.resolve("deploy.batch"), None);
        assert_eq!(catalog.resolve("nothing"), None);
    }

    #[test]
    fn category_contains_each_kind_once() {
        let all = catalog().category("all");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].resource.kind.api_version(), "apps/v1");
    }

    #[test]
    fn preferred_version_is_that_of_the_group() {
        let found = catalog().preferred("apps", "Deployment").unwrap();
        assert_eq!(found.resource.kind.version(), "v1");
        assert_eq!(catalog().preferred("", "Deployment"), None);
    }
}
