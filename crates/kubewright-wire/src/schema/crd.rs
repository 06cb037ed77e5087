//! Types of custom resources.

use std::collections::BTreeMap;

use kubewright_core::Kind;
use serde_json::{Value, json};

use super::handle::SchemaType;
use super::openapi::{OpenApiError, Reader};
use super::types::{Schema, Type, TypeId, Written};

const OBJECT_META: &str = "ObjectMeta";

/// The types of one version of a custom resource, from the `openAPIV3Schema` of its definition.
/// Without one, objects may have any fields.
///
/// `apiVersion`, `kind` and `metadata` are added, also to embedded resources.
pub fn from_crd(kind: &Kind, open_api_v3_schema: Option<&Value>) -> Result<Schema, OpenApiError> {
    let mut reader = Reader::new();
    let id = match open_api_v3_schema {
        Some(root) => {
            let metadata = import_metadata(&mut reader.schema);
            reader.named.insert(OBJECT_META.to_owned(), metadata);
            let mut complete = root.clone();
            add_embedded(&mut complete);
            add_object_fields(&mut complete);
            let parsed = reader.parse(&complete, &kind.kind, false)?;
            reader.schema.add(parsed)
        }
        None => reader.schema.untyped().id,
    };
    reader.schema.kinds.insert(kind.clone(), id);
    Ok(reader.schema)
}

fn add_embedded(node: &mut Value) {
    if let Some(properties) = node.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(add_embedded);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(below) = node.get_mut(name).filter(|below| below.is_object()) {
            add_embedded(below);
        }
    }
    let embedded = node.get("x-kubernetes-embedded-resource");
    if embedded.and_then(Value::as_bool) == Some(true) {
        add_object_fields(node);
    }
}

fn add_object_fields(node: &mut Value) {
    let Some(schema) = node.as_object_mut() else {
        return;
    };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
        properties.insert("metadata".to_owned(), json!({"$ref": OBJECT_META}));
    }
}

/// Copies the type of `metadata` and those below it from the table of Kubernetes' own kinds.
fn import_metadata(schema: &mut Schema) -> TypeId {
    let config_map = Kind::new("", "v1", "ConfigMap");
    let metadata = Schema::builtin()
        .kind(&config_map)
        .and_then(|object| object.field("metadata"));
    match metadata {
        Some(metadata) => import(schema, metadata, &mut BTreeMap::new()),
        None => schema.untyped().id,
    }
}

fn import(
    schema: &mut Schema,
    from: SchemaType<'_>,
    known: &mut BTreeMap<TypeId, TypeId>,
) -> TypeId {
    if from.id <= from.schema.untyped().id {
        return from.id;
    }
    if let Some(id) = known.get(&from.id) {
        return *id;
    }
    let mut definition = from.definition().clone();
    match &mut definition {
        Type::Scalar(_) | Type::Any(_) => {}
        Type::List(list) => list.item = import(schema, from.at(list.item), known),
        Type::Map(map) => {
            for field in map.fields.values_mut() {
                field.type_id = import(schema, from.at(field.type_id), known);
                // Custom resources are not Go structs: only fields that are set are written.
                field.written = Written::WhenSet;
            }
            map.rest = map.rest.map(|rest| import(schema, from.at(rest), known));
        }
    }
    let id = schema.add(definition);
    known.insert(from.id, id);
    id
}
