//! The resources that Kubernetes itself has.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use kubewright_core::{GroupVersion, Kind, Resource, Scope};
use kubewright_kinds::{BuiltinKind, ResourceRow, ResourceTable, lookup, resource_table};

use super::served::{Origin, ServedResource, Subresource};

/// The resources that Kubernetes itself has.
#[derive(Debug)]
pub(crate) struct Builtins {
    all: Vec<Arc<ServedResource>>,
    by_path: BTreeMap<(String, String, String), usize>,
    groups: Vec<GroupVersion>,
}

/// The built-in resources, read once.
pub(crate) fn builtins() -> &'static Builtins {
    static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| Builtins::new(resource_table()));
    &BUILTINS
}

/// The resources of Kubernetes' own kinds that the server has, in all their versions.
pub fn builtin_resources() -> impl Iterator<Item = &'static Resource> {
    builtins().all().iter().map(|served| &served.resource)
}

impl Builtins {
    fn new(table: &ResourceTable) -> Self {
        let all: Vec<Arc<ServedResource>> = table
            .resources
            .iter()
            .filter_map(|row| {
                let kind = Kind::new(&*row.group, &*row.version, &*row.kind);
                let strategy = lookup(&kind)?;
                Some(Arc::new(ServedResource::builtin(row, kind, strategy)))
            })
            .collect();
        let groups = table.groups.iter().flat_map(|group| {
            let versions = group.versions.iter();
            versions.map(|version| GroupVersion::new(group.name.as_str(), version.as_str()))
        });
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
            groups: groups.collect(),
        }
    }

    /// Every group and version, in the order of discovery: the preferred version of a group
    /// first.
    pub(crate) fn groups(&self) -> &[GroupVersion] {
        &self.groups
    }

    pub(crate) fn all(&self) -> &[Arc<ServedResource>] {
        &self.all
    }

    pub(crate) fn find(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<&Arc<ServedResource>> {
        let path = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.by_path.get(&path).map(|&index| &self.all[index])
    }

    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known.group == group)
    }

    pub(crate) fn has_group_version(&self, group: &str, version: &str) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|known| known.group == group && known.version == version)
    }
}

impl ServedResource {
    fn builtin(row: &ResourceRow, kind: Kind, strategy: &'static BuiltinKind) -> Self {
        let scope = if row.namespaced {
            Scope::Namespaced
        } else {
            Scope::Cluster
        };
        let resource = Resource::new(kind, &*row.plural, scope);
        let subresources = row.subresources.iter().map(|row| Subresource {
            name: row.name.clone(),
            kind: Kind::new(&*row.group, &*row.version, &*row.kind),
            verbs: row.verbs.clone(),
        });
        Self {
            singular: row.singular.clone(),
            list_kind: format!("{}List", resource.kind.kind),
            short_names: row.short_names.clone(),
            categories: row.categories.clone(),
            verbs: row.verbs.clone(),
            subresources: subresources.collect(),
            storage_version_hash: row.storage_version_hash.clone(),
            id: strategy
                .stored_as
                .map_or(strategy, |stored| stored.kind)
                .resource_id()
                .into(),
            strategy,
            origin: Origin::Builtin,
            resource,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kubewright_wire::protobuf::Layouts;

    use super::builtins;

    #[test]
    fn every_kind_in_a_request_body_is_decoded_from_protobuf() {
        let writes = |verbs: &[String]| {
            let is_write = |verb: &String| matches!(verb.as_str(), "create" | "update" | "patch");
            verbs.iter().any(is_write)
        };
        let mut unreadable = BTreeSet::new();
        for served in builtins().all() {
            let of_subresources = served
                .subresources
                .iter()
                .filter(|subresource| writes(&subresource.verbs))
                .map(|subresource| &subresource.kind);
            let main = Some(served.kind()).filter(|_| writes(&served.verbs));
            let kinds = main.into_iter().chain(of_subresources);
            let missing = kinds.filter(|kind| Layouts::builtin().of_kind(kind).is_none());
            unreadable.extend(missing.map(|kind| kind.kind.as_str()));
        }
        // Connections, whose requests have no body.
        let streams = ["NodeProxyOptions", "PodAttachOptions", "PodExecOptions"];
        let others = [
            "PodPortForwardOptions",
            "PodProxyOptions",
            "ServiceProxyOptions",
        ];
        let expected: BTreeSet<&str> = [streams, others].concat().into_iter().collect();
        assert_eq!(unreadable, expected);
    }

    #[test]
    fn table_has_the_resources_and_groups_of_kubernetes() {
        let pods = builtins().find("", "v1", "pods").unwrap();
        assert_eq!(pods.kind().kind, "Pod");
        assert!(pods.is_namespaced() && pods.has_status());
        assert!(builtins().all().len() > 60);
        assert_eq!(builtins().groups()[0].group, "");
        assert!(builtins().has_group_version("apps", "v1"));
        assert!(!builtins().has_group_version("apps", "v2"));
    }
}
