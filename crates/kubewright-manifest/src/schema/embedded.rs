use kubewright_wire::schema::{Field, ListType, SchemaType, Type, Written};
use serde_json::{Map, Value, json};

use super::TYPE_NAME;
use super::core_type::find_type;
use super::special::{name_forms, rewrite};

/// Adds to the schemas of Kubernetes' own types what their Rust types do not tell: how lists and
/// maps merge under server-side apply, and which defaults there are.
///
/// Without it every embedded list would be atomic: two managers that each add a container, a port
/// or a toleration would overwrite one another.
pub(crate) fn complete(schema: &mut Map<String, Value>) {
    complete_as(schema, None);
}

/// `known` is the type where the one above tells it.
fn complete_as(schema: &mut Map<String, Value>, known: Option<SchemaType<'static>>) {
    let named = schema.remove(TYPE_NAME);
    let named = named.as_ref().and_then(Value::as_str);
    if let Some(name) = named
        && rewrite(name, schema)
    {
        // Of metadata only the lists are left to be told; they are atomic or sets.
        if !schema.contains_key("properties") {
            return;
        }
    }
    name_forms(schema);
    let known = known.or_else(|| named.and_then(|name| find(name, schema)));
    if let Some(known) = known {
        merge_strategy(schema, known);
        defaults(schema, known);
    }
    complete_below(schema, known);
    // The keys of a list must be required or have a default, which is only seen from below.
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
                    property
                        .as_object_mut()
                        .into_iter()
                        .for_each(|one| complete_as(one, field));
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
                let branches = branches.iter_mut().filter_map(Value::as_object_mut);
                branches.for_each(|branch| complete_as(branch, None));
            }
            _ => {}
        }
    }
}

/// The type of Kubernetes that the schema describes.
fn find(name: &str, schema: &Map<String, Value>) -> Option<SchemaType<'static>> {
    let mut parts = name.rsplit('.');
    let (kind, package) = (parts.next()?, parts.next()?);
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let fields = properties.keys().map(String::as_str);
    find_type(&format!("{package}.{kind}"), fields)
}

pub(super) fn merge_strategy(schema: &mut Map<String, Value>, known: SchemaType<'_>) {
    let is = |form: &str| schema.get("type").is_some_and(|of| of == form);
    match known.definition() {
        Type::List(list) if is("array") => {
            let (strategy, keys) = match &list.list_type {
                ListType::Atomic => ("atomic", None),
                ListType::Set => ("set", None),
                ListType::Map(keys) => ("map", Some(keys)),
            };
            schema.insert("x-kubernetes-list-type".to_owned(), strategy.into());
            if let Some(keys) = keys {
                schema.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
            }
        }
        Type::Map(map) if is("object") && map.atomic => {
            schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
        }
        _ => {}
    }
}

fn defaults(schema: &mut Map<String, Value>, known: SchemaType<'_>) {
    let Some(map) = known.map() else { return };
    let mut filled = Vec::new();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            let default = map.fields.get(name).and_then(meant_default);
            if let (Some(default), Value::Object(property)) = (default, property) {
                property.insert("default".to_owned(), default.clone());
                filled.push(name.clone());
            }
        }
    }
    // What has a default need not be there.
    let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) else {
        return;
    };
    required.retain(|name| !filled.iter().any(|one| name == one));
    if required.is_empty() {
        schema.remove("required");
    }
}

/// A default that somebody wrote down. The others in Kubernetes' OpenAPI are Go's zero values of
/// fields that are always written, and of structs.
pub(super) fn meant_default(field: &Field) -> Option<&Value> {
    let is_optional = matches!(field.written, Written::WhenSet | Written::WhenNotZero);
    let default = field.default.as_ref().filter(|_| is_optional);
    default.filter(|default| !default.as_object().is_some_and(Map::is_empty))
}

/// A list by keys is refused by the API server unless each key is required or has a default; then
/// it is better owned whole than not accepted.
fn check_keys(schema: &mut Map<String, Value>) {
    let Some(keys) = schema.get("x-kubernetes-list-map-keys") else {
        return;
    };
    let items = schema.get("items");
    let required = items.and_then(|items| items.get("required"));
    let required = required.and_then(Value::as_array);
    let is_sure = |key: &Value| {
        let is_required = required.is_some_and(|required| required.contains(key));
        let property = key
            .as_str()
            .and_then(|key| items?.get("properties")?.get(key));
        is_required || property.is_some_and(|property| property.get("default").is_some())
    };
    let mut keys = keys.as_array().into_iter().flatten();
    if !keys.all(is_sure) {
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
    fn a_default_makes_a_field_optional_and_small_structs_are_atomic() {
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
    fn a_struct_of_the_users_own_is_left_alone() {
        let own = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "ports": {"type": "array", "items": {"type": "integer"}},
        }});
        assert_eq!(completed(own.clone()), own);
    }

    #[test]
    fn a_core_type_is_found_below_a_users_own() {
        let schema = completed(json!({"type": "object", "properties": {
            "ports": {"type": "array", "items": container_port()},
        }}));
        let ports = &schema["properties"]["ports"];
        assert_eq!(ports["x-kubernetes-list-type"], Value::Null);
        assert_eq!(ports["items"]["properties"]["protocol"]["default"], "TCP");
    }

    #[test]
    fn a_list_whose_key_may_be_missing_is_owned_whole() {
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
