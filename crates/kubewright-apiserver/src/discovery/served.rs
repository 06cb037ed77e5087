//! The groups and resources that discovery lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::GroupVersion;

use crate::resources::{Catalog, ServedResource, builtins};
use crate::store::Snapshot;

/// The groups and resources of one state of the store.
pub(super) struct ServedGroups<'a> {
    catalog: &'a Catalog,
    snapshot: &'a Snapshot,
}

/// A group with its versions, the preferred one first.
pub(super) struct ServedGroup {
    pub(super) name: String,
    pub(super) versions: Vec<String>,
}

impl<'a> ServedGroups<'a> {
    pub(super) fn new(catalog: &'a Catalog, snapshot: &'a Snapshot) -> Self {
        Self { catalog, snapshot }
    }

    /// The groups in the order of discovery: those of Kubernetes, then those of custom resources
    /// by name.
    pub(super) fn groups(&self) -> Vec<ServedGroup> {
        let mut groups: Vec<ServedGroup> = Vec::new();
        for GroupVersion { group, version } in builtins().groups() {
            add(&mut groups, group, version);
        }
        let mut customs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for resource in self.custom_resources() {
            let kind = resource.kind();
            let versions = customs.entry(kind.group().to_owned()).or_default();
            versions.push(kind.version().to_owned());
        }
        for (group, mut versions) in customs {
            versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
            for version in versions {
                add(&mut groups, &group, &version);
            }
        }
        groups
    }

    /// The resources of a group and version.
    pub(super) fn resources(&self, group: &str, version: &str) -> Vec<Arc<ServedResource>> {
        let builtin = builtins().all().iter().cloned();
        builtin
            .chain(self.custom_resources())
            .filter(|resource| {
                resource.kind().group() == group && resource.kind().version() == version
            })
            .collect()
    }

    fn custom_resources(&self) -> Vec<Arc<ServedResource>> {
        let customs = self.catalog.customs(self.snapshot);
        let versions = customs.iter().flat_map(|definition| definition.versions());
        versions.cloned().collect()
    }
}

fn add(groups: &mut Vec<ServedGroup>, name: &str, version: &str) {
    let Some(group) = groups.iter_mut().find(|group| group.name == name) else {
        groups.push(ServedGroup {
            name: name.to_owned(),
            versions: vec![version.to_owned()],
        });
        return;
    };
    if !group.versions.iter().any(|known| known == version) {
        group.versions.push(version.to_owned());
    }
}

/// The priority of a version: `v1` is above `v1beta1` and `v1beta1` above `v1alpha1`, later ones
/// above earlier ones, all others last (`CompareKubeAwareVersionStrings`).
fn priority(version: &str) -> (u8, u64, u64) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (major, rest) = rest.split_at(digits);
        let major: u64 = major.parse().ok()?;
        let (stage, minor) = match rest {
            "" => (3, ""),
            rest => match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
                (Some(minor), _) => (2, minor),
                (_, Some(minor)) => (1, minor),
                _ => return None,
            },
        };
        let minor = if minor.is_empty() {
            0
        } else {
            minor.parse().ok()?
        };
        Some((stage, major, minor))
    };
    parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::priority;

    #[test]
    fn versions_are_sorted_by_stability_then_descending() {
        let mut versions = ["v1beta1", "v2", "foo", "v1", "v1alpha1", "v1beta2"];
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(
            versions,
            ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
        );
    }
}
