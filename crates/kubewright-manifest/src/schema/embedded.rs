//! Merge strategies and defaults for Kubernetes' own types within a user's schema.

use kubewright_wire::schema::SchemaType;
use serde_json::{Map, Value};

use super::builtin::{add_merge_strategy, explicit_default, find_type};
use super::special::{add_int_or_string_types, rewrite};
use super::type_name::TYPE_NAME;

/// Adds to the schemas of Kubernetes' own types what their Rust types do not contain: how lists and
/// maps merge under server-side apply, and defaults.
///
/// Without it every embedded list would be atomic: two managers that each add a container, a port
/// or a toleration would overwrite each other.
pub(crate) fn complete(schema: &mut Map<String, Value>) {
    complete_as(schema, None);
}

/// `declared` is the type of the field in the parent's type, if that is one of Kubernetes.
fn complete_as(schema: &mut Map<String, Value>, declared: Option<SchemaType<'static>>) {
    let removed = schema.remove(TYPE_NAME);
    let type_name = removed.as_ref().and_then(Value::as_str);
    if let Some(name) = type_name
        && rewrite(name, schema)
    {
        // Only metadata still has properties, whose lists need a type.
        if !schema.contains_key("properties") {
            return;
        }
    }
    add_int_or_string_types(schema);
    let known = declared.or_else(|| type_name.and_then(|name| find(name, schema)));
    if let Some(known) = known {
        add_merge_strategy(schema, known);
        add_defaults(schema, known);
    }
    complete_below(schema, known);
    // The items must be complete: each key must be required or have a default there.
    if known.is_some() {
        check_keys(schema);
    }
}

fn complete_below(schema: &mut Map<String, Value>, known: Option<SchemaType<'static>>) {
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties.iter_mut() {
                    let field = known.and_then(|known| known.field(name));
                    if let Some(property_schema) = property.as_object_mut() {
                        complete_as(property_schema, field);
                    }
                }
            }
            ("items", Value::Object(items)) => {
                complete_as(items, known.and_then(|known| known.item()));
            }
            ("additionalProperties", Value::Object(further)) => {
                let rest = known.and_then(|known| Some(known.at(known.map()?.rest?)));
                complete_as(further, rest);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                    complete_as(branch, None);
                }
            }
            _ => {}
        }
    }
}

/// The type of Kubernetes with this name and the fields of the schema.
fn find(name: &str, schema: &Map<String, Value>) -> Option<SchemaType<'static>> {
    let mut parts = name.rsplit('.');
    let (kind, package) = (parts.next()?, parts.next()?);
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let fields = properties.keys().map(String::as_str);
    find_type(&format!("{package}.{kind}"), fields)
}

fn add_defaults(schema: &mut Map<String, Value>, known: SchemaType<'_>) {
    let Some(map) = known.map() else { return };
    let mut filled = Vec::new();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            let default = map.fields.get(name).and_then(explicit_default);
            if let (Some(default), Value::Object(property)) = (default, property) {
                property.insert("default".to_owned(), default.clone());
                filled.push(name.clone());
            }
        }
    }
    // A field with a default is not required.
    let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) else {
        return;
    };
    required.retain(|name| !filled.iter().any(|filled_name| name == filled_name));
    if required.is_empty() {
        schema.remove("required");
    }
}

/// The API server rejects a list of type map unless each key is required or has a default. Such a
/// list becomes atomic.
fn check_keys(schema: &mut Map<String, Value>) {
    let Some(keys) = schema.get("x-kubernetes-list-map-keys") else {
        return;
    };
    let items = schema.get("items");
    let required = items
        .and_then(|items| items.get("required"))
        .and_then(Value::as_array);
    let is_always_set = |key: &Value| {
        let is_required = required.is_some_and(|required| required.contains(key));
        let property = key
            .as_str()
            .and_then(|key| items?.get("properties")?.get(key));
        is_required || property.is_some_and(|property| property.get("default").is_some())
    };
    if !keys.as_array().into_iter().flatten().all(is_always_set) {
        schema.remove("x-kubernetes-list-map-keys");
        schema.insert("x-kubernetes-list-type".to_owned(), "atomic".into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::complete;

    fn completed(mut schema: Value) -> Value {
        complete(schema.as_object_mut().unwrap());
        schema
    }

    fn container_port() -> Value {
        json!({
            "type": "object",
            "id": "io.k8s.api.core.v1.ContainerPort",
            "required": ["containerPort"],
            "properties": {
                "containerPort": {"type": "integer"},
                "protocol": {"type": "string"},
            },
        })
    }

    #[test]
    fn lists_of_a_core_type_merge_by_their_keys() {
        let schema = completed(json!({
            "type": "object",
            "id": "io.k8s.api.core.v1.Container",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "args": {"type": "array", "items": {"type": "string"}},
                "ports": {"type": "array", "items": container_port()},
            },
        }));
        let ports = &schema["properties"]["ports"];
        assert_eq!(ports["x-kubernetes-list-type"], "map");
        assert_eq!(
            ports["x-kubernetes-list-map-keys"],
            json!(["containerPort", "protocol"])
        );
        assert_eq!(ports["items"]["properties"]["protocol"]["default"], "TCP");
        assert_eq!(ports["items"]["id"], Value::Null);
        let args = &schema["properties"]["args"];
        assert_eq!(args["x-kubernetes-list-type"], "atomic");
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!(schema["properties"]["name"]["default"], Value::Null);
    }

    #[test]
    fn field_with_a_default_is_optional_and_small_structs_are_atomic() {
        let schema = completed(json!({
            "type": "object",
            "id": "io.k8s.api.core.v1.LocalObjectReference",
            "required": ["name"],
            "properties": {"name": {"type": "string"}},
        }));
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "properties": {"name": {"type": "string", "default": ""}},
            })
        );
    }

    #[test]
    fn struct_of_the_user_is_unchanged() {
        let own = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "ports": {"type": "array", "items": {"type": "integer"}},
        }});
        assert_eq!(completed(own.clone()), own);
    }

    #[test]
    fn core_type_within_a_struct_of_the_user_is_completed() {
        let schema = completed(json!({"type": "object", "properties": {
            "ports": {"type": "array", "items": container_port()},
        }}));
        let ports = &schema["properties"]["ports"];
        assert_eq!(ports["x-kubernetes-list-type"], Value::Null);
        assert_eq!(ports["items"]["properties"]["protocol"]["default"], "TCP");
    }

    #[test]
    fn list_with_an_optional_key_is_atomic() {
        let mut port = container_port();
        port["required"] = json!([]);
        let schema = completed(json!({
            "type": "object",
            "id": "io.k8s.api.core.v1.Container",
            "properties": {"ports": {"type": "array", "items": port}},
        }));
        let ports = &schema["properties"]["ports"];
        assert_eq!(ports["x-kubernetes-list-type"], "atomic");
        assert_eq!(ports["x-kubernetes-list-map-keys"], Value::Null);
    }
}
