//! Aggregated discovery: all groups in one document.

use kubewright_core::Kind;
use serde_json::{Value, json};

use super::served::ServedGroups;
use crate::resources::{ServedResource, Subresource, builtins};

/// The document of `/api`: the core group.
pub(super) fn core() -> Value {
    let resources: Vec<Value> = builtins()
        .all()
        .iter()
        .filter(|served| served.kind().group().is_empty())
        .map(|served| resource(served))
        .collect();
    let version = json!({"version": "v1", "resources": resources, "freshness": "Current"});
    list(vec![json!({"metadata": {}, "versions": [version]})])
}

/// The document of `/apis`: all other groups.
pub(super) fn groups(served: &ServedGroups<'_>) -> Value {
    let groups = served.groups().into_iter();
    let items = groups.filter(|group| !group.name.is_empty()).map(|group| {
        let versions: Vec<Value> = group
            .versions
            .iter()
            .map(|version| {
                let found = served.resources(&group.name, version);
                let resources: Vec<Value> = found.iter().map(|served| resource(served)).collect();
                json!({"version": version, "resources": resources, "freshness": "Current"})
            })
            .collect();
        json!({"metadata": {"name": group.name}, "versions": versions})
    });
    list(items.collect())
}

fn list(items: Vec<Value>) -> Value {
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {}, "items": items,
    })
}

fn resource(served: &ServedResource) -> Value {
    let kind = served.kind();
    let scope = if served.is_namespaced() {
        "Namespaced"
    } else {
        "Cluster"
    };
    let mut value = json!({
        "resource": served.resource.plural,
        "responseKind": response_kind(served, kind),
        "scope": scope,
        "singularResource": served.singular,
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
    if !served.subresources.is_empty() {
        let subresources: Vec<Value> = served
            .subresources
            .iter()
            .map(|subresource| subresource_value(served, subresource))
            .collect();
        value["subresources"] = json!(subresources);
    }
    value
}

fn subresource_value(served: &ServedResource, subresource: &Subresource) -> Value {
    json!({
        "subresource": subresource.name,
        "responseKind": response_kind(served, &subresource.kind),
        "verbs": subresource.verbs,
    })
}

/// Built-in resources have empty group and version where they are those of the resource, as in
/// Kubernetes.
fn response_kind(served: &ServedResource, kind: &Kind) -> Value {
    let is_own = kind.group_version == served.kind().group_version;
    if is_own && served.custom().is_none() {
        return json!({"group": "", "version": "", "kind": kind.kind});
    }
    json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind})
}
