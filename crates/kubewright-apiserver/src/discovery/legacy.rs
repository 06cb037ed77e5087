//! Discovery in one document per group and version.

use kubewright_core::GroupVersion;
use serde_json::{Value, json};

use super::served::{ServedGroup, ServedGroups};
use crate::resources::{ServedResource, Subresource, builtins};

/// The document of `/api`.
pub(super) fn core_versions() -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [],
    })
}

/// The document of `/apis`.
pub(super) fn groups(served: &ServedGroups<'_>) -> Value {
    let groups: Vec<Value> = served
        .groups()
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(group_value)
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The document of `/apis/GROUP`.
pub(super) fn group(served: &ServedGroups<'_>, name: &str) -> Option<Value> {
    let groups = served.groups();
    let group = groups
        .iter()
        .find(|group| group.name == name && !name.is_empty())?;
    let mut value = group_value(group);
    value["kind"] = json!("APIGroup");
    value["apiVersion"] = json!("v1");
    Some(value)
}

fn group_value(group: &ServedGroup) -> Value {
    let ServedGroup { name, versions } = group;
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "preferredVersion": versions.first(), "versions": versions})
}

/// The document of `/api/v1` and `/apis/GROUP/VERSION`.
pub(super) fn resources(served: &ServedGroups<'_>, group: &str, version: &str) -> Option<Value> {
    let found = served.resources(group, version);
    let is_known = builtins().has_group_version(group, version) || !found.is_empty();
    let mut resources = Vec::new();
    for served in &found {
        resources.push(resource(served));
        let subresources = served.subresources.iter();
        resources.extend(subresources.map(|subresource| subresource_value(served, subresource)));
    }
    is_known.then(|| {
        let mut list = json!({
            "kind": "APIResourceList",
            "groupVersion": GroupVersion::new(group, version).to_string(),
            "resources": resources,
        });
        // Kubernetes leaves it out of the list of the core group.
        if !group.is_empty() {
            list["apiVersion"] = json!("v1");
        }
        list
    })
}

fn resource(served: &ServedResource) -> Value {
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

fn subresource_value(served: &ServedResource, subresource: &Subresource) -> Value {
    let kind = &subresource.kind;
    let mut value = json!({
        "name": format!("{}/{}", served.resource.plural, subresource.name),
        "singularName": "",
        "namespaced": served.is_namespaced(),
        "kind": kind.kind,
        "verbs": subresource.verbs,
    });
    if kind.group_version != served.kind().group_version {
        value["group"] = json!(kind.group());
        value["version"] = json!(kind.version());
    }
    value
}

/// The document of `/`.
pub(super) fn paths(served: &ServedGroups<'_>) -> Value {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for ServedGroup { name, versions } in served.groups() {
        if name.is_empty() {
            continue;
        }
        paths.push(format!("/apis/{name}"));
        paths.extend(
            versions
                .iter()
                .map(|version| format!("/apis/{name}/{version}")),
        );
    }
    paths.extend(["/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].map(str::to_owned));
    paths.sort();
    json!({"paths": paths})
}
