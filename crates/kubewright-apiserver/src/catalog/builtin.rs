use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use flate2::read::GzDecoder;
use kubewright_core::{GroupVersion, Kind, Resource, Scope};
use serde::Deserialize;

use super::{Origin, Served, Subresource};
use crate::kinds::is_newer_event;

/// The resources that Kubernetes itself has.
#[derive(Debug)]
pub(crate) struct Builtins {
    all: Vec<Arc<Served>>,
    by_path: BTreeMap<(String, String, String), usize>,
    groups: Vec<GroupVersion>,
}

/// The built-in resources, read once.
pub(crate) fn builtins() -> &'static Builtins {
    static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| Builtins::new(read_table()));
    &BUILTINS
}

/// The resources of Kubernetes' own kinds that the server has, in all their versions.
pub fn builtin_resources() -> impl Iterator<Item = &'static Resource> {
    builtins().all().iter().map(|served| &served.resource)
}

impl Builtins {
    fn new(table: Table) -> Self {
        let all: Vec<Arc<Served>> = table
            .resources
            .into_iter()
            .map(|row| Arc::new(Served::from(row)))
            .collect();
        let groups = table.groups.into_iter().flat_map(|group| {
            let versions = group.versions.into_iter();
            versions.map(move |version| GroupVersion::new(group.name.clone(), version))
        });
        let groups = groups.collect();
        let by_path = all
            .iter()
            .enumerate()
            .map(|(index, served)| {
                let kind = served.kind();
                let path = (
                    kind.group().to_owned(),
                    kind.version().to_owned(),
                    served.resource.plural.clone(),
                );
                (path, index)
            })
            .collect();
        Self {
            all,
            by_path,
            groups,
        }
    }

    /// Every group and version, in the order of discovery: the preferred version of a group
    /// first.
    pub(crate) fn groups(&self) -> &[GroupVersion] {
        &self.groups
    }

    pub(crate) fn all(&self) -> &[Arc<Served>] {
        &self.all
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        let path = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.by_path.get(&path).map(|&index| &self.all[index])
    }

    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|one| one.group == group)
    }

    pub(crate) fn has_group_version(&self, group: &str, version: &str) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|one| one.group == group && one.version == version)
    }
}

/// The table as `cargo xtask tables` writes it.
#[derive(Deserialize)]
struct Table {
    groups: Vec<GroupRow>,
    resources: Vec<ResourceRow>,
}

#[derive(Deserialize)]
struct GroupRow {
    name: String,
    versions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceRow {
    group: String,
    version: String,
    plural: String,
    singular: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<String>,
    short_names: Vec<String>,
    categories: Vec<String>,
    storage_version_hash: String,
    subresources: Vec<SubresourceRow>,
}

#[derive(Deserialize)]
struct SubresourceRow {
    name: String,
    group: String,
    version: String,
    kind: String,
    verbs: Vec<String>,
}

fn read_table() -> Table {
    let packed = include_bytes!("../../tables/resources.json.gz");
    serde_json::from_reader(GzDecoder::new(packed.as_slice()))
        .expect("the committed table of resources is checked by a test")
}

impl From<ResourceRow> for Served {
    fn from(row: ResourceRow) -> Self {
        let scope = match row.namespaced {
            true => Scope::Namespaced,
            false => Scope::Cluster,
        };
        let kind = Kind::new(row.group, row.version, row.kind);
        let resource = Resource::new(kind, row.plural, scope);
        let subresources = row.subresources.into_iter().map(|row| Subresource {
            name: row.name,
            kind: Kind::new(row.group, row.version, row.kind),
            verbs: row.verbs,
        });
        Self {
            singular: row.singular,
            list_kind: format!("{}List", resource.kind.kind),
            short_names: row.short_names,
            categories: row.categories,
            verbs: row.verbs,
            subresources: subresources.collect(),
            storage_version_hash: row.storage_version_hash,
            id: match is_newer_event(&resource.kind) {
                // Both groups show the same objects.
                true => "events".into(),
                false => resource.qualified_name().into(),
            },
            origin: Origin::Builtin,
            resource,
        }
    }
}

#[cfg(test)]
mod tests {
    use kubewright_wire::protobuf::Layouts;

    use super::builtins;

    #[test]
    fn every_kind_that_a_request_may_carry_is_read_from_protobuf() {
        let writes = |verbs: &[String]| {
            let is_write = |verb: &String| matches!(verb.as_str(), "create" | "update" | "patch");
            verbs.iter().any(is_write)
        };
        let mut unread = Vec::new();
        for served in builtins().all() {
            let parts = served.subresources.iter();
            let parts = parts
                .filter(|part| writes(&part.verbs))
                .map(|part| &part.kind);
            let main = Some(served.kind()).filter(|_| writes(&served.verbs));
            let kinds = main.into_iter().chain(parts);
            unread.extend(kinds.filter(|kind| Layouts::builtin().of_kind(kind).is_none()));
        }
        unread.sort();
        unread.dedup();
        let unread: Vec<&str> = unread.iter().map(|kind| kind.kind.as_str()).collect();
        // Streams, whose requests have no body.
        let streams = ["NodeProxyOptions", "PodAttachOptions", "PodExecOptions"];
        let others = [
            "PodPortForwardOptions",
            "PodProxyOptions",
            "ServiceProxyOptions",
        ];
        assert_eq!(unread, [streams, others].concat());
    }

    #[test]
    fn every_kind_of_kubernetes_is_in_the_table() {
        let pods = builtins().find("", "v1", "pods").unwrap();
        assert_eq!(pods.kind().kind, "Pod");
        assert!(pods.is_namespaced() && pods.has_status());
        assert!(builtins().all().len() > 60);
        assert_eq!(builtins().groups()[0].group, "");
        assert!(builtins().has_group_version("apps", "v1"));
        assert!(!builtins().has_group_version("apps", "v2"));
    }
}
