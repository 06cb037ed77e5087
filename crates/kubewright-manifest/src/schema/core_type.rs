//! Schemas of Kubernetes' own structs.

use kubewright_wire::schema::{Map as Struct, Scalar, Schema, SchemaType, Type, TypeId, Written};
use serde_json::{Map, Value, json};

use super::builtin::{add_merge_strategy, explicit_default, find_type};
use super::special::rewrite;

/// The schema of a struct of Kubernetes with this name and these fields: with list types, map keys,
/// defaults and required fields, without descriptions. `None` when there is no such struct.
///
/// ```
/// let schema = kubewright_manifest::core_schema("Toleration", ["key", "operator"]).unwrap();
/// assert_eq!(schema["properties"]["tolerationSeconds"]["type"], "integer");
/// ```
pub fn core_schema<'n>(name: &str, fields: impl IntoIterator<Item = &'n str>) -> Option<Value> {
    let found = find_type(name, fields)?;
    Some(Value::Object(write(found, &mut Vec::new())))
}

/// `parents` are the types that contain this one.
fn write(of: SchemaType<'static>, parents: &mut Vec<TypeId>) -> Map<String, Value> {
    let mut schema = match of.definition() {
        Type::Scalar(scalar) => write_scalar(*scalar),
        Type::List(list) => {
            let items = write(of.at(list.item), parents);
            object([("type", json!("array")), ("items", items.into())])
        }
        Type::Map(map) if parents.contains(&of.id()) || is_free_form(map) => free_form(),
        Type::Map(map) => {
            parents.push(of.id());
            let schema = write_struct(of, map, parents);
            parents.pop();
            schema
        }
        Type::Any(any) if any.scalar == Scalar::IntOrString => write_scalar(any.scalar),
        Type::Any(_) => object([("x-kubernetes-preserve-unknown-fields", json!(true))]),
    };
    add_merge_strategy(&mut schema, of);
    if schema.contains_key("properties")
        && let Some(map) = of.map()
    {
        rewrite(&map.name, &mut schema);
    }
    schema
}

fn write_struct(
    of: SchemaType<'static>,
    map: &Struct,
    parents: &mut Vec<TypeId>,
) -> Map<String, Value> {
    let mut schema = object([("type", json!("object"))]);
    if map.fields.is_empty() {
        if let Some(rest) = map.rest {
            schema.insert(
                "additionalProperties".to_owned(),
                write(of.at(rest), parents).into(),
            );
        }
        return schema;
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in &map.fields {
        let mut property = write(of.at(field.type_id), parents);
        if let Some(default) = explicit_default(field) {
            property.insert("default".to_owned(), default.clone());
        }
        if is_required(of.at(field.type_id), field.written) {
            required.push(name.clone());
        }
        properties.insert(name.clone(), property.into());
    }
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// Go always serializes fields without `omitempty`, so these are required; except structs and times,
/// which it also serializes when they are not set.
fn is_required(of: SchemaType<'_>, written: Written) -> bool {
    let always = matches!(written, Written::AlwaysOrNull | Written::AlwaysOrZero);
    let may_be_unset = match of.definition() {
        Type::Scalar(scalar) => matches!(scalar, Scalar::Time | Scalar::MicroTime),
        Type::Map(map) => !map.fields.is_empty(),
        Type::List(_) | Type::Any(_) => false,
    };
    always && !may_be_unset
}

fn write_scalar(scalar: Scalar) -> Map<String, Value> {
    let (type_name, format) = match scalar {
        Scalar::Text => ("string", ""),
        Scalar::Bytes => ("string", "byte"),
        Scalar::Bool => ("boolean", ""),
        Scalar::Int32 => ("integer", "int32"),
        Scalar::Int64 => ("integer", "int64"),
        Scalar::Float => ("number", ""),
        Scalar::Time | Scalar::MicroTime => ("string", "date-time"),
        Scalar::Quantity | Scalar::IntOrString | Scalar::Any => ("", ""),
    };
    let mut schema = Map::new();
    for (keyword, value) in [("type", type_name), ("format", format)] {
        if !value.is_empty() {
            schema.insert(keyword.to_owned(), value.into());
        }
    }
    match scalar {
        Scalar::Quantity => {
            rewrite("Quantity", &mut schema);
        }
        Scalar::IntOrString => {
            rewrite("IntOrString", &mut schema);
        }
        Scalar::Any => schema = object([("x-kubernetes-preserve-unknown-fields", json!(true))]),
        _ => {}
    }
    schema
}

/// Whether the struct is a map with values of any type.
fn is_free_form(map: &Struct) -> bool {
    let untyped = Schema::builtin().untyped().id();
    map.fields.is_empty() && map.rest == Some(untyped)
}

fn free_form() -> Map<String, Value> {
    object([
        ("type", json!("object")),
        ("x-kubernetes-preserve-unknown-fields", json!(true)),
    ])
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::core_schema;

    #[test]
    fn schema_has_list_keys_required_fields_and_defaults() {
        let container = core_schema("Container", ["image", "ports"]).unwrap();
        assert_eq!(container["required"], json!(["name"]));
        let ports = &container["properties"]["ports"];
        assert_eq!(ports["x-kubernetes-list-type"], "map");
        assert_eq!(
            ports["items"]["properties"]["protocol"],
            json!({"type": "string", "default": "TCP"})
        );
        let limits = &container["properties"]["resources"]["properties"]["limits"];
        let amount = &limits["additionalProperties"];
        assert_eq!(amount["x-kubernetes-int-or-string"], true);
        assert!(amount["pattern"].is_string());
    }

    #[test]
    fn label_selector_is_atomic() {
        let selector = core_schema("LabelSelector", ["matchLabels"]).unwrap();
        assert_eq!(selector["x-kubernetes-map-type"], "atomic");
        assert_eq!(
            selector["properties"]["matchLabels"],
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        );
        let expressions = &selector["properties"]["matchExpressions"];
        assert_eq!(expressions["items"]["required"], json!(["key", "operator"]));
    }

    #[test]
    fn template_metadata_has_only_fields_that_users_set() {
        let template = core_schema("PodTemplateSpec", ["spec"]).unwrap();
        let metadata = template["properties"]["metadata"]["properties"].as_object();
        let names: Vec<_> = metadata.unwrap().keys().collect();
        assert_eq!(
            names,
            ["annotations", "finalizers", "labels", "name", "namespace"]
        );
    }

    #[test]
    fn unknown_struct_has_no_schema() {
        assert_eq!(core_schema("Toleration", ["colour"]), None);
        assert_eq!(core_schema("Shoe", []), None);
    }
}
