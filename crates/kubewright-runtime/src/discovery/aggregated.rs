//! The aggregated discovery document.

use serde::Deserialize;

use super::documents::{Group, GroupVersionName, ResourceEntry, ResourceList};

/// `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`: all groups below one path in one response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Aggregated {
    pub(super) kind: String,
    items: Vec<Item>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    metadata: Metadata,
    versions: Vec<Version>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Version {
    version: String,
    resources: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    resource: String,
    response_kind: Option<ResponseKind>,
    scope: String,
    singular_resource: String,
    verbs: Vec<String>,
    short_names: Vec<String>,
    categories: Vec<String>,
    subresources: Vec<Sub>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Sub {
    subresource: String,
    response_kind: Option<ResponseKind>,
    verbs: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseKind {
    group: String,
    version: String,
    kind: String,
}

impl Aggregated {
    /// Converts the document to the older ones, which kubectl stores: `SplitGroupsAndResources` of
    /// client-go.
    pub(super) fn split(self, groups: &mut Vec<Group>, lists: &mut Vec<ResourceList>) {
        for item in self.items {
            let name = item.metadata.name;
            let group_version = |version: &str| match name.as_str() {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            };
            let versions: Vec<_> = item
                .versions
                .iter()
                .map(|Version { version, .. }| GroupVersionName {
                    group_version: group_version(version),
                    version: version.clone(),
                })
                .collect();
            // The versions are in the order of preference.
            let Some(preferred_version) = versions.first().cloned() else {
                continue;
            };
            for version in item.versions {
                lists.push(ResourceList {
                    kind: "APIResourceList".to_owned(),
                    api_version: "v1".to_owned(),
                    group_version: group_version(&version.version),
                    resources: version.resources.into_iter().flat_map(entries).collect(),
                });
            }
            groups.push(Group {
                name,
                versions,
                preferred_version,
            });
        }
    }
}

/// The entries of the resource, if it can be read, and of its subresources.
fn entries(entry: Entry) -> Vec<ResourceEntry> {
    let namespaced = entry.scope == "Namespaced";
    let subresources = entry.subresources.iter().map(|sub| {
        let kind = sub.response_kind.clone().unwrap_or_default();
        ResourceEntry {
            name: format!("{}/{}", entry.resource, sub.subresource),
            namespaced,
            group: kind.group,
            version: kind.version,
            kind: kind.kind,
            verbs: sub.verbs.clone(),
            ..ResourceEntry::default()
        }
    });
    let subresources: Vec<_> = subresources.collect();
    let own = entry.response_kind.map(|kind| ResourceEntry {
        name: entry.resource,
        singular_name: entry.singular_resource,
        namespaced,
        kind: kind.kind,
        verbs: entry.verbs,
        short_names: entry.short_names,
        categories: entry.categories,
        ..ResourceEntry::default()
    });
    own.into_iter().chain(subresources).collect()
}
