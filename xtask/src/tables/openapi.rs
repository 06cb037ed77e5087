//! The table of OpenAPI schemas.

use std::collections::BTreeMap;
use std::error::Error;

use serde_json::Value;

use super::server::Server;
use super::write;

/// The schemas in the OpenAPI documents of all group versions, by name.
pub(super) type Definitions = BTreeMap<String, Value>;

/// Reads the documents from the server.
pub(super) async fn read(server: &Server) -> Result<Definitions, Box<dyn Error>> {
    let index = server.read("/openapi/v3").await?;
    let paths = index["paths"]
        .as_object()
        .ok_or("/openapi/v3 has no paths")?;
    let mut definitions = Definitions::new();
    for path in paths
        .values()
        .filter_map(|entry| entry["serverRelativeURL"].as_str())
    {
        let document = server.read(path).await?;
        let Some(schemas) = document["components"]["schemas"].as_object() else {
            continue;
        };
        for (name, schema) in schemas {
            let known = definitions
                .entry(name.clone())
                .or_insert_with(|| schema.clone());
            merge_kinds(known, schema)?;
        }
    }
    Ok(definitions)
}

/// Returns the schemas without descriptions, as the embedded server publishes them.
pub(super) fn pack(definitions: &Definitions) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut definitions = definitions.clone();
    definitions.values_mut().for_each(drop_descriptions);
    write::pack(&serde_json::to_vec(&definitions)?)
}

/// Removes descriptions, but not a property with the name `description`, whose value is no string.
fn drop_descriptions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| name != "description" || !member.is_string());
            members.values_mut().for_each(drop_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_descriptions),
        _ => {}
    }
}

const KINDS: &str = "x-kubernetes-group-version-kind";

/// Merges the kinds of a type that several documents contain, such as `DeleteOptions`. Each document
/// lists only its own kinds. Everything else must be equal.
fn merge_kinds(known: &mut Value, other: &Value) -> Result<(), Box<dyn Error>> {
    let mut rest = other.clone();
    let more = rest.as_object_mut().and_then(|rest| rest.remove(KINDS));
    let kinds = known.as_object_mut().and_then(|known| known.remove(KINDS));
    if *known != rest {
        return Err("two documents describe one type differently".into());
    }
    let mut all: Vec<Value> = Vec::new();
    for kind in [kinds, more].into_iter().flatten() {
        for entry in kind.as_array().into_iter().flatten() {
            if !all.contains(entry) {
                all.push(entry.clone());
            }
        }
    }
    if !all.is_empty()
        && let Some(known) = known.as_object_mut()
    {
        known.insert(KINDS.to_owned(), Value::Array(all));
    }
    Ok(())
}
