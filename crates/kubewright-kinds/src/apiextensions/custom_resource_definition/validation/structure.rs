//! Structural schemas.

use kubewright_cel::GoRegex;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use crate::json::{items, text};

/// The position of a node in its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The errors of a schema that is not structural: each node has a type, and alternatives only
/// restrict nodes that the schema declares (`ValidateStructural` of
/// k8s.io/apiextensions-apiserver/pkg/apiserver/schema).
pub(super) fn check_structure(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_node(schema, Level::Root, path, &mut causes);
    check_completeness(schema, schema, path, path, &mut causes);
    causes.sort_by_key(Cause::with_field);
    causes
}

fn flag(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

fn child<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).filter(|child| child.is_object())
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn alternatives(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| {
        let all = items(&schema[name]).enumerate();
        all.map(move |(index, alternative)| (format!("{name}[{index}]"), alternative))
    });
    lists.chain(child(schema, "not").map(|not| ("not".to_owned(), not)))
}

/// Whether a schema has a default anywhere.
pub(super) fn has_default(schema: &Value) -> bool {
    if schema.get("default").is_some_and(|value| !value.is_null()) {
        return true;
    }
    let others = ["items", "additionalProperties"]
        .into_iter()
        .filter_map(|name| child(schema, name));
    properties(schema)
        .map(|(_, property)| property)
        .chain(alternatives(schema).map(|(_, alternative)| alternative))
        .chain(others)
        .any(has_default)
}

fn check_node(schema: &Value, level: Level, path: &str, causes: &mut Vec<Cause>) {
    let kind = text(&schema["type"]);
    let rest = schema
        .get("additionalProperties")
        .filter(|rest| !rest.is_null());
    match child(schema, "items") {
        Some(items) => check_node(items, Level::Item, &format!("{path}.items"), causes),
        None if kind == "array" => {
            let path = format!("{path}.items");
            causes.push(Cause::required(&path, "must be specified"));
        }
        None => {}
    }
    for (name, below) in properties(schema) {
        check_node(
            below,
            Level::Field,
            &format!("{path}.properties[{name}]"),
            causes,
        );
    }
    if rest.is_some() && level == Level::Root {
        let path = format!("{path}.additionalProperties");
        causes.push(Cause::forbidden(&path, "must not be used at the root"));
    }
    if let Some(rest) = child(schema, "additionalProperties") {
        let path = format!("{path}.additionalProperties");
        check_node(rest, Level::Field, &path, causes);
    }
    check_extensions(schema, path, causes);
    check_values(schema, is_int_or_string(schema), path, causes);
    check_type(schema, level, path, causes);
    if level == Level::Root || flag(schema, "x-kubernetes-embedded-resource") {
        check_metadata(schema, level, path, causes);
    }
}

fn check_extensions(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    if !flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for name in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            causes.push(Cause::invalid(
                &format!("{path}.{name}"),
                &json!(true),
                detail,
            ));
        }
    }
}

fn check_type(schema: &Value, level: Level, path: &str, causes: &mut Vec<Cause>) {
    let kind = text(&schema["type"]);
    let at = format!("{path}.type");
    let is_embedded = flag(schema, "x-kubernetes-embedded-resource");
    let is_free = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if is_embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(match kind {
            "" => Cause::required(&at, detail),
            _ => Cause::invalid(&at, &schema["type"], detail),
        });
    } else if kind.is_empty() && !is_free {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(&at, detail));
    }
    if is_embedded && schema.get("additionalProperties").is_some() {
        let at = format!("{path}.additionalProperties");
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        causes.push(Cause::forbidden(&at, detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        causes.push(Cause::invalid(
            &at,
            &schema["type"],
            "must be object at the root",
        ));
    }
    let is_preserving = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if is_embedded && !is_preserving && properties(schema).next().is_none() {
        let at = format!("{path}.properties");
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        causes.push(Cause::required(&at, detail));
    }
}

/// The errors of the metadata of an object or embedded object.
fn check_metadata(schema: &Value, level: Level, path: &str, causes: &mut Vec<Cause>) {
    for name in ["kind", "apiVersion"] {
        let Some(below) = schema["properties"].get(name) else {
            continue;
        };
        if text(&below["type"]) != "string" {
            let at = format!("{path}.properties[{name}].type");
            causes.push(Cause::invalid(
                &at,
                &json!(text(&below["type"])),
                "must be string",
            ));
        }
    }
    let Some(metadata) = schema["properties"].get("metadata") else {
        return;
    };
    let at = format!("{path}.properties[metadata]");
    if text(&metadata["type"]) != "object" {
        let kind = json!(text(&metadata["type"]));
        causes.push(Cause::invalid(
            &format!("{at}.type"),
            &kind,
            "must be object",
        ));
    }
    let is_name = |(name, _): (&String, &Value)| matches!(name.as_str(), "name" | "generateName");
    let is_plain = |(name, _): (&String, &Value)| matches!(name.as_str(), "type" | "properties");
    let has_other_fields = metadata
        .as_object()
        .is_some_and(|all| !all.iter().all(is_plain));
    if level == Level::Root && (has_other_fields || !properties(metadata).all(is_name)) {
        let detail = "must not specify anything other than name and generateName, but metadata is \
                      implicitly specified";
        causes.push(Cause::forbidden(&at, detail));
    }
}

/// Whether the alternatives are `integer` and `string`, the only ones that may have a type.
fn is_int_or_string(schema: &Value) -> bool {
    schema["anyOf"] == json!([{"type": "integer"}, {"type": "string"}])
}

fn check_values(schema: &Value, skips_any_of: bool, path: &str, causes: &mut Vec<Cause>) {
    for (name, alternative) in alternatives(schema) {
        if skips_any_of && name.starts_with("anyOf") {
            continue;
        }
        let skips = name == "allOf[0]" && is_int_or_string(alternative);
        check_alternative(alternative, skips, &format!("{path}.{name}"), causes);
    }
    let pattern = &schema["pattern"];
    if let Some(Err(why)) = pattern.as_str().map(GoRegex::new) {
        let detail = format!("must be a valid regular expression, but isn't: {why}");
        causes.push(Cause::invalid(&format!("{path}.pattern"), pattern, &detail));
    }
}

/// An alternative only restricts values.
fn check_alternative(schema: &Value, skips_any_of: bool, path: &str, causes: &mut Vec<Cause>) {
    check_values(schema, skips_any_of, path, causes);
    if let Some(items) = child(schema, "items") {
        check_alternative(items, false, &format!("{path}.items"), causes);
    }
    for (name, below) in properties(schema) {
        check_alternative(below, false, &format!("{path}.properties[{name}]"), causes);
    }
    let is_set = |name: &str| match &schema[name] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    for (name, detail) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-int-or-string",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (
            "x-kubernetes-map-type",
            "must be undefined to be structural",
        ),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        if is_set(name) {
            causes.push(Cause::forbidden(&format!("{path}.{name}"), detail));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let path = format!("{path}.properties[metadata]");
        let detail = "must not be specified in a nested context";
        causes.push(Cause::forbidden(&path, detail));
    }
}

/// The nodes of an alternative are declared in the schema itself, too.
///
/// `path` is the path of the alternative, and `schema_path` that of the schema.
fn check_completeness(
    alternative: &Value,
    schema: &Value,
    schema_path: &str,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    for (name, nested) in alternatives(alternative) {
        let path = format!("{path}.{name}");
        check_completeness(nested, schema, schema_path, &path, causes);
        let mut compare = |node: &Value, name: String, declared: Option<&Value>| {
            let (schema_path, path) = (format!("{schema_path}.{name}"), format!("{path}.{name}"));
            match declared {
                Some(declared) => {
                    check_nested_completeness(node, declared, &schema_path, &path, causes);
                }
                None => {
                    let detail = format!("because it is defined in {path}");
                    causes.push(Cause::required(&schema_path, &detail));
                }
            }
        };
        for (name, node) in properties(nested) {
            let declared = schema["properties"].get(name);
            compare(node, format!("properties[{name}]"), declared);
        }
        if let Some(item) = child(nested, "items") {
            compare(item, "items".to_owned(), child(schema, "items"));
        }
    }
}

/// Checks a node inside of an alternative, whose children are part of the alternative.
fn check_nested_completeness(
    node: &Value,
    schema: &Value,
    schema_path: &str,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    check_completeness(node, schema, schema_path, path, causes);
    let children = json!({"allOf": [{"properties": node["properties"], "items": node["items"]}]});
    check_completeness(&children, schema, schema_path, path, causes);
}
