//! The OpenAPI document of a group and version, and the index of all documents.

use std::sync::Arc;

use kubewright_core::GroupVersion;
use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use ring::digest::{Context, SHA256};
use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use super::{custom, paths};
use crate::encoding::hex;
use crate::resources::{Catalog, ServedResource, builtins};
use crate::store::Snapshot;

/// The paths of the documents of all groups and versions. The hash in a path changes with the
/// document.
pub(crate) fn index(catalog: &Catalog, snapshot: &Snapshot) -> Value {
    let definitions = CUSTOM_RESOURCE_DEFINITION.resource_id();
    let last_change = snapshot.last_change(definitions).to_string();
    let mut versions: Vec<GroupVersion> = builtins().groups().to_vec();
    for definition in catalog.customs(snapshot) {
        for served in definition.versions() {
            let group_version = &served.kind().group_version;
            if !versions.contains(group_version) {
                versions.push(group_version.clone());
            }
        }
    }
    let mut found = Map::new();
    for version in versions {
        let path = match version.group.as_str() {
            "" => format!("api/{}", version.version),
            group => format!("apis/{group}/{}", version.version),
        };
        let is_builtin = builtins().has_group(&version.group);
        let salt = if is_builtin { "" } else { &last_change };
        let url = format!("/openapi/v3/{path}?hash={}", hash(&path, salt));
        found.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({ "paths": found })
}

/// The document of a group and version; none for an unknown version.
pub(crate) fn document(
    catalog: &Catalog,
    snapshot: &Snapshot,
    group: &str,
    version: &str,
) -> Option<Value> {
    let served: Vec<Arc<ServedResource>> = catalog
        .all(snapshot)
        .into_iter()
        .filter(|served| served.kind().group() == group && served.kind().version() == version)
        .collect();
    if served.is_empty() && !builtins().has_group_version(group, version) {
        return None;
    }
    let mut schemas = Schemas::read();
    for custom in served.iter().filter(|served| served.custom().is_some()) {
        let schema = custom::schema_of(snapshot, custom).unwrap_or_else(|| json!({}));
        custom::add(&mut schemas, custom, schema);
    }
    let paths = paths::all(&served, &schemas);
    Some(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.3"},
        "components": {
            "schemas": schemas.reachable(&paths, &GroupVersion::new(group, version)),
            "securitySchemes": {"BearerToken": {
                "type": "apiKey", "name": "authorization", "in": "header",
            }},
        },
        "paths": paths,
    }))
}

fn hash(path: &str, salt: &str) -> String {
    let mut context = Context::new(&SHA256);
    for part in [Schemas::packed(), path.as_bytes(), salt.as_bytes()] {
        context.update(part);
    }
    hex(context.finish().as_ref())
}
