//! The table of bootstrap roles and role bindings.

use std::collections::BTreeMap;
use std::error::Error;

use serde_json::{Map, Value};

use super::server::Server;
use super::write;

/// The kinds of roles and bindings.
const PLURALS: [&str; 4] = [
    "clusterrolebindings",
    "clusterroles",
    "rolebindings",
    "roles",
];

/// The metadata fields that are equal in all clusters.
const METADATA: [&str; 4] = ["annotations", "labels", "name", "namespace"];

/// Reads the roles and bindings that a server creates when it starts without a controller manager.
pub(super) async fn read(server: &Server) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut table: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for plural in PLURALS {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/{plural}");
        let list = server.read(&path).await?;
        let items = list["items"].as_array().into_iter().flatten();
        table.insert(plural, items.map(without_cluster_fields).collect());
    }
    write::pack(&serde_json::to_vec(&table)?)
}

/// Returns the object without the fields that differ between clusters.
fn without_cluster_fields(object: &Value) -> Value {
    let mut members = object.as_object().cloned().unwrap_or_default();
    members
        .retain(|name, value| !matches!(name.as_str(), "kind" | "apiVersion") && !value.is_null());
    let metadata: Map<String, Value> = object["metadata"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| METADATA.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    members.insert("metadata".to_owned(), metadata.into());
    members.into()
}
