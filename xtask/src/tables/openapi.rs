use std::collections::BTreeMap;
use std::error::Error;

use serde_json::Value;

use super::server::Server;
use super::write;

/// Every schema of the OpenAPI documents of all group versions, by name.
pub(super) type Definitions = BTreeMap<String, Value>;

/// Reads the documents.
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

/// The schemas without their prose, as the embedded server publishes them.
pub(super) fn pack(definitions: &Definitions) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut definitions = definitions.clone();
    definitions.values_mut().for_each(drop_prose);
    write::pack(&serde_json::to_vec(&definitions)?)
}

/// A property may itself be called `description`; it is then no text.
fn drop_prose(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| name != "description" || !member.is_string());
            members.values_mut().for_each(drop_prose);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_prose),
        _ => {}
    }
}

const KINDS: &str = "x-kubernetes-group-version-kind";

/// A type that several documents hold, such as `DeleteOptions`, lists in each of them only the
/// kinds of that document; all else must be equal.
fn merge_kinds(known: &mut Value, other: &Value) -> Result<(), Box<dyn Error>> {
    let mut rest = other.clone();
    let more = rest.as_object_mut().and_then(|rest| rest.remove(KINDS));
    let kinds = known.as_object_mut().and_then(|known| known.remove(KINDS));
    if *known != rest {
        return Err("two documents describe one type differently".into());
    }
    let mut all: Vec<Value> = Vec::new();
    for kind in [kinds, more].into_iter().flatten() {
        for one in kind.as_array().cloned().unwrap_or_default() {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    if let (false, Some(known)) = (all.is_empty(), known.as_object_mut()) {
        known.insert(KINDS.to_owned(), Value::Array(all));
    }
    Ok(())
}
