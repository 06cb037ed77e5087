//! Accepts new and changed CustomResourceDefinitions.

use kubewright_kinds::json::items;
use serde_json::{Value, json};

use super::names::accept_names;
use crate::request::api::Api;
use crate::store::Object;

/// Sets the status of a valid definition, which a real server sets step by step.
pub(crate) fn accept(api: &Api, value: &mut Value, old: Option<&Object>) {
    if old.is_none() {
        value["status"] = json!({});
    }
    add_stored_version(value);
    accept_names(&api.store, &api.timestamp(), value);
}

fn add_stored_version(value: &mut Value) {
    let storage = items(&value["spec"]["versions"])
        .find(|version| version["storage"] == true)
        .map(|version| version["name"].clone());
    let Some(storage) = storage else {
        return;
    };
    let stored = &mut value["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(stored) if stored.contains(&storage) => {}
        Some(stored) => stored.push(storage),
        None => *stored = json!([storage]),
    }
}
