use kube::core::{ApiResource, GroupVersionKind};
use kubewright_core::{GroupVersion, Kind, Resource, Scope};
use serde::{Deserialize, Serialize};

/// What a server serves, as it was found at some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Groups in the server's order, which decides between kinds of one name.
    pub(super) groups: GroupList,
    pub(super) lists: Vec<ResourceList>,
}

/// One kind that a server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Kind, plural name and scope.
    pub resource: Resource,
    /// The name of one object in commands, such as `deployment`.
    pub singular: String,
    /// Short names, such as `deploy`.
    pub short_names: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// What can be done with it.
    pub verbs: Vec<String>,
    /// Subresources, such as `scale`.
    pub subresources: Vec<String>,
}

/// `APIGroupList`, as `/apis` and kubectl's `servergroups.json` have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct GroupList {
    pub(super) kind: String,
    #[serde(rename = "apiVersion")]
    pub(super) api_version: String,
    pub(super) groups: Vec<Group>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) versions: Vec<GroupVersionName>,
    pub(super) preferred_version: GroupVersionName,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GroupVersionName {
    pub(super) group_version: String,
    pub(super) version: String,
}

/// `APIResourceList`, as `/apis/GROUP/VERSION` and kubectl's `serverresources.json` have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceList {
    pub(super) kind: String,
    pub(super) api_version: String,
    pub(super) group_version: String,
    pub(super) resources: Vec<ResourceEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceEntry {
    pub(super) name: String,
    pub(super) singular_name: String,
    pub(super) namespaced: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) verbs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) categories: Vec<String>,
}

impl Catalog {
    /// All kinds of all versions, the preferred version of a group first.
    pub fn all(&self) -> impl Iterator<Item = Served> {
        let groups = self.groups.groups.iter();
        let versions = groups.flat_map(|group| {
            let preferred = &group.preferred_version;
            let others = group.versions.iter().filter(move |one| *one != preferred);
            std::iter::once(preferred).chain(others)
        });
        versions
            .filter_map(|version| {
                let mut lists = self.lists.iter();
                lists.find(|list| list.group_version == version.group_version)
            })
            .flat_map(ResourceList::served)
    }

    /// The kind of this very version.
    pub fn of_kind(&self, kind: &Kind) -> Option<Served> {
        self.all().find(|served| served.resource.kind == *kind)
    }

    /// The preferred version of a kind of a group.
    pub fn preferred(&self, group: &str, kind: &str) -> Option<Served> {
        let is_meant = |served: &Served| {
            let found = &served.resource.kind;
            found.group() == group && found.kind == kind
        };
        self.all().find(is_meant)
    }

    /// What somebody calls it on a command line: `deployments`, `Deployment`, `deploy`,
    /// `deployments.apps` or `deployments.v1.apps`.
    pub fn resolve(&self, name: &str) -> Option<Served> {
        let (name, rest) = name.split_once('.').unwrap_or((name, ""));
        let name = name.to_lowercase();
        let is_called = |served: &Served| {
            let group = served.resource.kind.group();
            let version = served.resource.kind.version();
            served.is_called(&name)
                && (rest.is_empty() || rest == group || rest == format!("{version}.{group}"))
        };
        self.all().find(is_called)
    }

    /// The kinds of a category, such as `all`, each in its preferred version.
    pub fn category(&self, category: &str) -> Vec<Served> {
        let mut found: Vec<Served> = Vec::new();
        for served in self.all() {
            let is_known = found.iter().any(|one| {
                let (one, other) = (&one.resource, &served.resource);
                one.kind.group() == other.kind.group() && one.plural == other.plural
            });
            if !is_known && served.categories.iter().any(|one| one == category) {
                found.push(served);
            }
        }
        found
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }
}

impl Served {
    /// The same as kube's dynamic client wants it.
    pub fn api_resource(&self) -> ApiResource {
        let kind = &self.resource.kind;
        let kind = GroupVersionKind::gvk(kind.group(), kind.version(), &kind.kind);
        ApiResource::from_gvk_with_plural(&kind, &self.resource.plural)
    }

    fn is_called(&self, name: &str) -> bool {
        self.resource.plural == name
            || self.singular == name
            || self.resource.kind.kind.to_lowercase() == name
            || self.short_names.iter().any(|short| short == name)
    }
}

impl ResourceList {
    /// The kinds of this version, without their subresources.
    fn served(&self) -> impl Iterator<Item = Served> {
        let version = GroupVersion::from_api_version(&self.group_version);
        let kinds = self.resources.iter().filter(|one| !one.name.contains('/'));
        kinds.map(move |entry| {
            let kind = Kind::new(&version.group, &version.version, &entry.kind);
            let scope = match entry.namespaced {
                true => Scope::Namespaced,
                false => Scope::Cluster,
            };
            let below = format!("{}/", entry.name);
            let names = self.resources.iter().map(|one| &one.name);
            let subresources = names.filter_map(|name| name.strip_prefix(&below));
            Served {
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
    fn a_kind_is_found_by_whatever_people_call_it() {
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
    fn a_category_names_each_kind_once() {
        let all = catalog().category("all");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].resource.kind.api_version(), "apps/v1");
    }

    #[test]
    fn the_preferred_version_is_that_of_the_group() {
        let found = catalog().preferred("apps", "Deployment").unwrap();
        assert_eq!(found.resource.kind.version(), "v1");
        assert_eq!(catalog().preferred("", "Deployment"), None);
    }
}
