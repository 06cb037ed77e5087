//! Lists that are sets or maps.

use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::Value;

use crate::json::{items, text};

/// The most errors that show all keys.
const MOST_CAUSES: usize = 100;

/// The errors of a set, or of a list with keys.
pub(super) fn check_list_rules(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let list = schema["x-kubernetes-list-type"].as_str();
    let item = item_schema(schema);
    if keys(schema).next().is_some() {
        let at = format!("{path}.x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list {
            None => causes.push(Cause::required(&at, detail)),
            Some("map") => {}
            Some(_) => {
                causes.push(Cause::invalid(
                    &at,
                    &schema["x-kubernetes-list-type"],
                    detail,
                ));
            }
        }
    }
    match (list, item) {
        (Some("set"), Some(item)) if text(&schema["type"]) == "array" => {
            causes.extend(check_set(item, path));
        }
        (Some("map"), _) => causes.extend(check_map(schema, path)),
        _ => {}
    }
    if let (Some(kind @ ("set" | "map")), Some(item)) = (list, item)
        && item["nullable"] == true
    {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        causes.push(Cause::forbidden(&format!("{path}.items.nullable"), &detail));
    }
    if let (Some("map"), Some(item)) = (list, item) {
        causes.extend(check_keys(schema, item, path));
    }
    causes
}

fn item_schema(schema: &Value) -> Option<&Value> {
    schema.get("items").filter(|item| item.is_object())
}

fn keys(schema: &Value) -> impl Iterator<Item = &str> {
    items(&schema["x-kubernetes-list-map-keys"]).map(text)
}

/// The items of a set are atomic.
fn check_set(item: &Value, path: &str) -> Option<Cause> {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list = item["x-kubernetes-list-type"].as_str();
    match text(&item["type"]) {
        "array" if list.is_some_and(|list| list != "atomic") => {
            let at = format!("{path}.items.x-kubernetes-list-type");
            Some(Cause::invalid(&at, &item["x-kubernetes-list-type"], detail))
        }
        "object" if item["x-kubernetes-map-type"] != "atomic" => {
            let at = format!("{path}.items.x-kubernetes-map-type");
            Some(Cause::invalid(&at, &item["x-kubernetes-list-type"], detail))
        }
        _ => None,
    }
}

fn check_map(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    if keys(schema).next().is_none() {
        let at = format!("{path}.x-kubernetes-list-map-keys");
        let detail = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(&at, detail));
    }
    let Some(item) = item_schema(schema) else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        causes.push(Cause::required(&format!("{path}.items"), detail));
        return causes;
    };
    if text(&item["type"]) != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let kind = Value::String(text(&item["type"]).to_owned());
        causes.push(Cause::invalid(&format!("{path}.items.type"), &kind, detail));
        return causes;
    }
    let mut seen = BTreeSet::new();
    for name in keys(schema) {
        if causes.len() >= MOST_CAUSES {
            break;
        }
        let at = format!("{path}.x-kubernetes-list-map-keys");
        match item["properties"].get(name) {
            Some(property) if matches!(text(&property["type"]), "array" | "object") => {
                let at = format!("{path}.items.properties[{name}].type");
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                causes.push(Cause::invalid(&at, &item["type"], detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                let all = &schema["x-kubernetes-list-map-keys"];
                causes.push(Cause::invalid(&at, all, detail));
            }
        }
        if !seen.insert(name) {
            let all = &schema["x-kubernetes-list-map-keys"];
            causes.push(Cause::invalid(
                &at,
                all,
                "must not contain duplicate entries",
            ));
        }
    }
    causes
}

/// The keys of a list are required, or have a default.
fn check_keys(schema: &Value, item: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let required: BTreeSet<&str> = items(&item["required"]).filter_map(Value::as_str).collect();
    for name in keys(schema) {
        let Some(property) = item["properties"].get(name) else {
            continue;
        };
        let at = |field: &str| format!("{path}.items.properties[{name}].{field}");
        if !required.contains(name) && property.get("default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                          default or be a required property";
            causes.push(Cause::required(&at("default"), detail));
        }
        if property["nullable"] == true {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.push(Cause::forbidden(&at("nullable"), detail));
        }
    }
    causes
}
