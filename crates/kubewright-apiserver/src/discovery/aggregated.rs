use kubewright_core::Kind;
use serde_json::{Value, json};

use super::legacy::{group_versions, served};
use crate::catalog::{Served, Subresource, builtins};
use crate::server::Server;

/// `/api` in one document.
pub(super) fn core() -> Value {
    let all = builtins().all().iter();
    let resources = all.filter(|served| served.kind().group().is_empty());
    let resources: Vec<Value> = resources.map(|served| resource(served)).collect();
    let version = json!({"version": "v1", "resources": resources, "freshness": "Current"});
    list(vec![json!({"metadata": {}, "versions": [version]})])
}

/// `/apis` in one document.
pub(super) fn groups(server: &Server) -> Value {
    let groups = group_versions(server).into_iter();
    let items = groups
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let served = served(server, &group, version);
                    let resources: Vec<Value> = served.iter().map(|one| resource(one)).collect();
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            json!({"metadata": {"name": group}, "versions": versions})
        });
    list(items.collect())
}

fn list(items: Vec<Value>) -> Value {
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {}, "items": items,
    })
}

fn resource(served: &Served) -> Value {
    let kind = served.kind();
    let scope = match served.is_namespaced() {
        true => "Namespaced",
        false => "Cluster",
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
        let parts = served.subresources.iter();
        let parts: Vec<Value> = parts.map(|part| subresource(served, part)).collect();
        value["subresources"] = json!(parts);
    }
    value
}

fn subresource(served: &Served, part: &Subresource) -> Value {
    json!({
        "subresource": part.name,
        "responseKind": response_kind(served, &part.kind),
        "verbs": part.verbs,
    })
}

/// A built-in resource names group and version only where they are not its own.
fn response_kind(served: &Served, kind: &Kind) -> Value {
    let is_own = kind.group_version == served.kind().group_version;
    match is_own && served.custom().is_none() {
        true => json!({"group": "", "version": "", "kind": kind.kind}),
        false => json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind}),
    }
}
