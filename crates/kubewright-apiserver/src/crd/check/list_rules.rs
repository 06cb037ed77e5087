use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::Value;

use super::definition::text;

/// How many of the causes are told that each show a whole list.
const MOST_CAUSES: usize = 100;

/// What sets, and lists with keys, ask of their items.
pub(super) fn check_list_rules(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let list = schema["x-kubernetes-list-type"].as_str();
    let items = schema.get("items").filter(|items| items.is_object());
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let keys = keys.map_or(&[][..], Vec::as_slice);
    if !keys.is_empty() {
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
    match (list, items) {
        (Some("set"), Some(items)) if text(&schema["type"]) == "array" => {
            causes.extend(check_set(items, path));
        }
        (Some("map"), items) => causes.extend(check_map(items, keys, (schema, path))),
        _ => {}
    }
    if let (Some(kind @ ("set" | "map")), Some(items)) = (list, items)
        && items["nullable"] == true
    {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        causes.push(Cause::forbidden(&format!("{path}.items.nullable"), &detail));
    }
    if let (Some("map"), Some(items)) = (list, items) {
        causes.extend(check_keys(items, keys, path));
    }
    causes
}

/// The items of a set are each owned whole.
fn check_set(items: &Value, path: &str) -> Option<Cause> {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list = items["x-kubernetes-list-type"].as_str();
    match text(&items["type"]) {
        "array" if list.is_some_and(|list| list != "atomic") => {
            let at = format!("{path}.items.x-kubernetes-list-type");
            Some(Cause::invalid(
                &at,
                &items["x-kubernetes-list-type"],
                detail,
            ))
        }
        "object" if items["x-kubernetes-map-type"] != "atomic" => {
            let at = format!("{path}.items.x-kubernetes-map-type");
            Some(Cause::invalid(
                &at,
                &items["x-kubernetes-list-type"],
                detail,
            ))
        }
        _ => None,
    }
}

fn check_map(items: Option<&Value>, keys: &[Value], (schema, path): (&Value, &str)) -> Vec<Cause> {
    let mut causes = Vec::new();
    if keys.is_empty() {
        let at = format!("{path}.x-kubernetes-list-map-keys");
        let detail = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(&at, detail));
    }
    let Some(items) = items else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        causes.push(Cause::required(&format!("{path}.items"), detail));
        return causes;
    };
    if text(&items["type"]) != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let kind = Value::String(text(&items["type"]).to_owned());
        causes.push(Cause::invalid(&format!("{path}.items.type"), &kind, detail));
        return causes;
    }
    let mut seen = BTreeSet::new();
    for key in keys {
        // Each of these causes shows all keys.
        if causes.len() >= MOST_CAUSES {
            break;
        }
        let name = text(key);
        let at = format!("{path}.x-kubernetes-list-map-keys");
        match items["properties"].get(name) {
            Some(property) if matches!(text(&property["type"]), "array" | "object") => {
                let at = format!("{path}.items.properties[{name}].type");
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                causes.push(Cause::invalid(&at, &items["type"], detail));
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

/// A key is always there.
fn check_keys(items: &Value, keys: &[Value], path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let required = items["required"].as_array().into_iter().flatten();
    let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
    for key in keys {
        let name = text(key);
        let Some(property) = items["properties"].get(name) else {
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
