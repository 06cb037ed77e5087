//! Kubernetes' own types: lookup by name and fields, merge strategy, defaults.

use kubewright_wire::schema::{Field, ListType, Schema, SchemaType, Type, Written};
use serde_json::{Map, Value, json};

/// The smallest struct with this name (with or without its package) and these fields. A client for
/// an older Kubernetes has fewer fields.
pub(super) fn find_type<'n>(
    name: &str,
    fields: impl IntoIterator<Item = &'n str>,
) -> Option<SchemaType<'static>> {
    let wanted: Vec<&str> = fields.into_iter().collect();
    let is_named = |full: &str| full == name || full.rsplit('.').next() == Some(name);
    let has_fields = |candidate: &SchemaType<'_>| {
        wanted
            .iter()
            .all(|field| candidate.declared(field).is_some())
    };
    Schema::builtin()
        .structs()
        .filter(|(full, candidate)| is_named(full) && has_fields(candidate))
        .map(|(_, candidate)| candidate)
        .min_by_key(|candidate| candidate.map().map_or(0, |map| map.fields.len()))
}

/// Adds the list type and keys, or the map type, of server-side apply.
pub(super) fn add_merge_strategy(schema: &mut Map<String, Value>, known: SchemaType<'_>) {
    let is = |type_name: &str| schema.get("type").is_some_and(|found| found == type_name);
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

/// The default of a `+default` marker. Other defaults in Kubernetes' OpenAPI schema are Go's zero
/// values of required fields and of structs.
pub(super) fn explicit_default(field: &Field) -> Option<&Value> {
    let is_optional = matches!(field.written, Written::WhenSet | Written::WhenNotZero);
    let default = field.default.as_ref().filter(|_| is_optional);
    default.filter(|default| !default.as_object().is_some_and(Map::is_empty))
}
