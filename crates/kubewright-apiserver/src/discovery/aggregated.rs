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
        "responseKind": {
            "group": kind.group(), "version": kind.version(), "kind": kind.kind,
        },
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
        let parts: Vec<Value> = served.subresources.iter().map(subresource).collect();
        value["subresources"] = json!(parts);
    }
    value
}

fn subresource(part: &Subresource) -> Value {
    json!({
        "subresource": part.name,
        "responseKind": {
            "group": part.kind.group(), "version": part.kind.version(), "kind": part.kind.kind,
        },
        "verbs": part.verbs,
    })
}
