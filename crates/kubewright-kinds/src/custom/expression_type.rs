//! The types of schemas in expressions.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use kubewright_cel::{ListShape, ObjectType, Type, escape};

use crate::json::items;

/// The type of values of a schema; `None` when expressions cannot use them (`SchemaDeclType` of
/// k8s.io/apiserver/pkg/cel/common).
pub(crate) fn expression_type(schema: &Value, is_resource: bool, name: &str) -> Option<Type> {
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(Type::Dyn);
    }
    match schema["type"].as_str()? {
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object())?;
            let of = expression_type(items, is_embedded(items), &format!("{name}.@idx"))?;
            Some(Type::List(Arc::new(of), list_shape(schema)))
        }
        "object" => object_type(schema, is_resource, name),
        "string" => Some(match schema["format"].as_str() {
            Some("byte") => Type::Bytes,
            Some("duration") => Type::Duration,
            Some("date" | "date-time") => Type::Timestamp,
            _ => Type::String,
        }),
        "boolean" => Some(Type::Bool),
        "number" => Some(Type::Double),
        "integer" => Some(Type::Int),
        _ => None,
    }
}

/// Whether a schema is that of an embedded object.
pub(crate) fn is_embedded(schema: &Value) -> bool {
    schema["x-kubernetes-embedded-resource"] == true
}

fn object_type(schema: &Value, is_resource: bool, name: &str) -> Option<Type> {
    let rest = schema.get("additionalProperties");
    if let Some(rest) = rest.filter(|rest| rest.is_object()) {
        let of = expression_type(rest, is_embedded(rest), &format!("{name}.@elem"))?;
        return Some(Type::map(Type::String, of));
    }
    let mut properties = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    if is_resource {
        add_metadata(&mut properties);
    }
    let mut object = ObjectType::new(name);
    for (field, schema) in &properties {
        let below = format!("{name}.{field}");
        if let Some(of) = expression_type(schema, is_embedded(schema), &below) {
            object = object.property(field, of);
        }
    }
    Some(Type::Object(Arc::new(object)))
}

/// Expressions can always use the kind and the name of an object.
pub(crate) fn add_metadata(properties: &mut Map<String, Value>) {
    let text = json!({"type": "string"});
    let of = |field: Option<&Value>| field.map(|field| field["type"].clone());
    let metadata = properties.get("metadata");
    let is_declared = of(metadata) == Some(json!("object"))
        && [
            properties.get("kind"),
            properties.get("apiVersion"),
            metadata.and_then(|metadata| metadata["properties"].get("name")),
            metadata.and_then(|metadata| metadata["properties"].get("generateName")),
        ]
        .into_iter()
        .all(|field| of(field) == Some(json!("string")));
    if is_declared {
        return;
    }
    properties.insert("apiVersion".to_owned(), text.clone());
    properties.insert("kind".to_owned(), text.clone());
    let metadata = properties
        .entry("metadata")
        .or_insert_with(|| json!({"type": "object"}));
    metadata["type"] = json!("object");
    metadata["properties"]["name"] = text.clone();
    metadata["properties"]["generateName"] = text;
}

fn list_shape(schema: &Value) -> ListShape {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListShape::Set,
        Some("map") => {
            let keys = items(&schema["x-kubernetes-list-map-keys"]).filter_map(Value::as_str);
            ListShape::Map(keys.filter_map(escape).collect())
        }
        _ => ListShape::Atomic,
    }
}
