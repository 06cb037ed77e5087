use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::GroupVersion;
use serde_json::{Value, json};

use crate::catalog::{Served, Subresource, builtins};
use crate::server::Server;

/// The groups in the order of discovery, each with its versions, the preferred one first: those of
/// Kubernetes, then those of custom resources by name.
pub(super) fn group_versions(server: &Server) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut note = |group: &str, version: &str| match groups.iter_mut().find(|(g, _)| g == group) {
        Some((_, versions)) if versions.iter().any(|one| one == version) => {}
        Some((_, versions)) => versions.push(version.to_owned()),
        None => groups.push((group.to_owned(), vec![version.to_owned()])),
    };
    for GroupVersion { group, version } in builtins().groups() {
        note(group, version);
    }
    let mut customs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for served in custom_resources(server) {
        let kind = served.kind();
        let versions = customs.entry(kind.group().to_owned()).or_default();
        versions.push(kind.version().to_owned());
    }
    for (group, mut versions) in customs {
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        for version in versions {
            note(&group, &version);
        }
    }
    groups
}

/// `v1` before `v1beta1` before `v1alpha1`, later before earlier, others last
/// (`CompareKubeAwareVersionStrings`).
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

pub(super) fn custom_resources(server: &Server) -> Vec<Arc<Served>> {
    let snapshot = server.store().snapshot();
    let customs = server.catalog().customs(&snapshot);
    let versions = customs.iter().flat_map(|definition| definition.versions());
    versions.cloned().collect()
}

/// Every resource of a group and version.
pub(super) fn served(server: &Server, group: &str, version: &str) -> Vec<Arc<Served>> {
    let all = builtins().all().iter().cloned();
    all.chain(custom_resources(server))
        .filter(|served| served.kind().group() == group && served.kind().version() == version)
        .collect()
}

pub(super) fn core_versions() -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [],
    })
}

pub(super) fn groups(server: &Server) -> Value {
    let groups: Vec<Value> = group_versions(server)
        .iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| group_value(group, versions))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

pub(super) fn group(server: &Server, name: &str) -> Option<Value> {
    let groups = group_versions(server);
    let (group, versions) = groups
        .iter()
        .find(|(group, _)| group == name && !name.is_empty())?;
    let mut value = group_value(group, versions);
    value["kind"] = json!("APIGroup");
    value["apiVersion"] = json!("v1");
    Some(value)
}

fn group_value(group: &str, versions: &[String]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
        .collect();
    json!({"name": group, "preferredVersion": versions.first(), "versions": versions})
}

pub(super) fn resources(server: &Server, group: &str, version: &str) -> Option<Value> {
    let served = served(server, group, version);
    let known = builtins().has_group_version(group, version) || !served.is_empty();
    let mut resources = Vec::new();
    for one in &served {
        resources.push(resource(one));
        resources.extend(one.subresources.iter().map(|part| subresource(one, part)));
    }
    known.then(|| {
        let mut list = json!({
            "kind": "APIResourceList",
            "groupVersion": GroupVersion::new(group, version).to_string(),
            "resources": resources,
        });
        // The list of the core group has none, in Kubernetes either.
        if !group.is_empty() {
            list["apiVersion"] = json!("v1");
        }
        list
    })
}

fn resource(served: &Served) -> Value {
    let mut value = json!({
        "name": served.resource.plural,
        "singularName": served.singular,
        "namespaced": served.is_namespaced(),
        "kind": served.kind().kind,
        "verbs": served.verbs,
    });
    for (field, names) in [
        ("shortNames", &served.short_names),
        ("categories", &served.categories),
    ] {
        if !names.is_empty() {
            value[field] = json!(names);
        }
    }
    if !served.storage_version_hash.is_empty() {
        value["storageVersionHash"] = json!(served.storage_version_hash);
    }
    value
}

fn subresource(served: &Served, part: &Subresource) -> Value {
    let mut value = json!({
        "name": format!("{}/{}", served.resource.plural, part.name),
        "singularName": "",
        "namespaced": served.is_namespaced(),
        "kind": part.kind.kind,
        "verbs": part.verbs,
    });
    if part.kind.group_version != served.kind().group_version {
        value["group"] = json!(part.kind.group());
        value["version"] = json!(part.kind.version());
    }
    value
}

pub(super) fn paths(server: &Server) -> Value {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in group_versions(server) {
        if group.is_empty() {
            continue;
        }
        paths.push(format!("/apis/{group}"));
        paths.extend(
            versions
                .iter()
                .map(|version| format!("/apis/{group}/{version}")),
        );
    }
    paths.extend(["/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].map(str::to_owned));
    paths.sort();
    json!({"paths": paths})
}

#[cfg(test)]
mod tests {
    use super::priority;

    #[test]
    fn stable_versions_come_before_betas_and_late_before_early() {
        let mut versions = ["v1beta1", "v2", "foo", "v1", "v1alpha1", "v1beta2"];
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(
            versions,
            ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
        );
    }
}
