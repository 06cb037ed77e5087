use serde::Deserialize;

use super::catalog::{Group, GroupVersionName, ResourceEntry, ResourceList};

/// `APIGroupDiscoveryList` of `apidiscovery.k8s.io/v2`: everything below one path in one answer.
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseKind {
    group: String,
    version: String,
    kind: String,
}

impl Aggregated {
    /// The same as the older answers say it, which kubectl keeps; `SplitGroupsAndResources` of
    /// client-go.
    pub(super) fn split(self, groups: &mut Vec<Group>, lists: &mut Vec<ResourceList>) {
        for item in self.items {
            let name = item.metadata.name;
            let spelled = |version: &str| match name.as_str() {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            };
            let versions = item.versions.iter().map(|one| GroupVersionName {
                group_version: spelled(&one.version),
                version: one.version.clone(),
            });
            let versions: Vec<_> = versions.collect();
            // They come in the order of preference.
            let Some(preferred_version) = versions.first().cloned() else {
                continue;
            };
            for version in item.versions {
                lists.push(ResourceList {
                    kind: "APIResourceList".to_owned(),
                    api_version: "v1".to_owned(),
                    group_version: spelled(&version.version),
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

/// The resource itself, where it can be read, and its subresources.
fn entries(entry: Entry) -> Vec<ResourceEntry> {
    let namespaced = entry.scope == "Namespaced";
    let below = entry.subresources.into_iter().map(|sub| {
        let kind = sub.response_kind.unwrap_or_default();
        ResourceEntry {
            name: format!("{}/{}", entry.resource, sub.subresource),
            namespaced,
            group: kind.group,
            version: kind.version,
            kind: kind.kind,
            verbs: sub.verbs,
            ..ResourceEntry::default()
        }
    });
    let below: Vec<_> = below.collect();
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
    own.into_iter().chain(below).collect()
}
