//! Conversion of OpenAPI schemas to types.

use std::collections::BTreeMap;

use kubewright_core::Kind;
use serde_json::{Map as JsonMap, Value};

use super::error::OpenApiError;
use super::tags::{atomic_of, is_true, list_type_of, patch_of};
use crate::schema::types::{
    Any, Field, List, Map, Scalar, Schema, Type, TypeId, UNTYPED_ATOMIC, UNTYPED_DEDUCED, Written,
};

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";

/// Reads the `components.schemas` of OpenAPI v3 documents, as the API server does for server-side
/// apply (k8s.io/kube-openapi/pkg/schemaconv).
///
/// The documents do not contain when Go writes a field: `written` has this by definition and field,
/// except for fields that are written when they are set.
pub fn from_openapi(
    definitions: &BTreeMap<String, Value>,
    written: &BTreeMap<String, BTreeMap<String, Written>>,
) -> Result<Schema, OpenApiError> {
    let mut reader = Reader::new();
    for name in definitions.keys() {
        let id = reader.schema.add(Type::Scalar(Scalar::Any));
        reader.named.insert(name.clone(), id);
    }
    for (name, definition) in definitions {
        let id = reader.named.get(name).copied().unwrap_or(UNTYPED_ATOMIC);
        let mut parsed = match name.as_str() {
            QUANTITY => Type::Scalar(Scalar::Quantity),
            TIME => Type::Scalar(Scalar::Time),
            MICRO_TIME => Type::Scalar(Scalar::MicroTime),
            RAW_EXTENSION => reader.schema.at(UNTYPED_ATOMIC).definition().clone(),
            _ => reader.parse(definition, name, false)?,
        };
        add_go_facts(&mut parsed, name, written.get(name));
        let slot = usize::try_from(id.0)
            .ok()
            .and_then(|index| reader.schema.types.get_mut(index));
        if let Some(slot) = slot {
            *slot = parsed;
        }
        for kind in kinds_of(definition) {
            reader.schema.kinds.insert(kind, id);
        }
    }
    reader.finish_overrides();
    Ok(reader.schema)
}

#[derive(Debug)]
pub(in crate::schema) struct Reader {
    pub(in crate::schema) schema: Schema,
    pub(in crate::schema) named: BTreeMap<String, TypeId>,
    interned: BTreeMap<String, TypeId>,
    /// Copies of types with another value of `atomic`. They are filled in at the end, because the
    /// original may not have been read yet.
    overrides: BTreeMap<(TypeId, bool), TypeId>,
}

impl Reader {
    pub(in crate::schema) fn new() -> Self {
        Self {
            schema: Schema::empty(),
            named: BTreeMap::new(),
            interned: BTreeMap::new(),
            overrides: BTreeMap::new(),
        }
    }

    /// The type of a schema node. `preserve` means that a parent preserves unknown fields, which
    /// applies to all nodes within it.
    pub(in crate::schema) fn parse(
        &mut self,
        node: &Value,
        place: &str,
        preserve: bool,
    ) -> Result<Type, OpenApiError> {
        let preserves = preserve || is_true(node, "x-kubernetes-preserve-unknown-fields");
        match node.get("type").and_then(Value::as_str).unwrap_or_default() {
            "" => {
                let scalar = match node.get("format").and_then(Value::as_str) {
                    Some("int-or-string") => Scalar::IntOrString,
                    _ if is_true(node, "x-kubernetes-int-or-string") => Scalar::IntOrString,
                    _ => Scalar::Any,
                };
                Ok(Type::Any(Box::new(Any {
                    scalar,
                    list: self.list(node, place, preserves)?,
                    map: self.map(node, place, preserves)?,
                })))
            }
            "object" => Ok(Type::Map(self.map(node, place, preserves)?)),
            "array" => Ok(Type::List(self.list(node, place, preserves)?)),
            primitive => scalar_of(primitive, node)
                .map(Type::Scalar)
                .ok_or_else(|| OpenApiError::new(place, format!("there is no type {primitive:?}"))),
        }
    }

    /// The id of the type that a node describes or refers to.
    fn reference(
        &mut self,
        node: &Value,
        place: &str,
        preserve: bool,
    ) -> Result<TypeId, OpenApiError> {
        let Some(target) = reference_of(node) else {
            let parsed = self.parse(node, place, preserve)?;
            return Ok(self.intern(parsed));
        };
        let id = self
            .named
            .get(target)
            .copied()
            .ok_or_else(|| OpenApiError::new(place, format!("unknown type {target}")))?;
        Ok(match atomic_of(node, place)? {
            None => id,
            Some(atomic) => self.overridden(id, atomic),
        })
    }

    fn overridden(&mut self, id: TypeId, atomic: bool) -> TypeId {
        if let Some(known) = self.overrides.get(&(id, atomic)) {
            return *known;
        }
        let copy = self.schema.add(Type::Scalar(Scalar::Any));
        self.overrides.insert((id, atomic), copy);
        copy
    }

    fn finish_overrides(&mut self) {
        for ((original, atomic), copy) in &self.overrides {
            let mut definition = self.schema.at(*original).definition().clone();
            match &mut definition {
                Type::Map(map) => map.atomic = *atomic,
                Type::Any(any) => any.map.atomic = *atomic,
                Type::Scalar(_) | Type::List(_) => {}
            }
            let index = usize::try_from(copy.0).unwrap_or(usize::MAX);
            if let Some(slot) = self.schema.types.get_mut(index) {
                *slot = definition;
            }
        }
    }

    fn intern(&mut self, parsed: Type) -> TypeId {
        let text = serde_json::to_string(&parsed).unwrap_or_default();
        if let Some(id) = self.interned.get(&text) {
            return *id;
        }
        let id = self.schema.add(parsed);
        self.interned.insert(text, id);
        id
    }

    fn map(&mut self, node: &Value, place: &str, preserve: bool) -> Result<Map, OpenApiError> {
        let empty = JsonMap::new();
        let properties = node
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let mut fields = BTreeMap::new();
        for (name, property) in properties {
            let field = self.field(property, &format!("{place}.{name}"), preserve)?;
            fields.insert(name.clone(), field);
        }
        let rest = match node.get("additionalProperties") {
            None if preserve || properties.is_empty() => Some(UNTYPED_DEDUCED),
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(UNTYPED_DEDUCED),
            Some(further) => Some(self.reference(further, &format!("{place}.*"), preserve)?),
        };
        Ok(Map {
            name: String::new(),
            fields,
            rest,
            atomic: atomic_of(node, place)?.unwrap_or(false),
        })
    }

    fn field(
        &mut self,
        property: &Value,
        place: &str,
        preserve: bool,
    ) -> Result<Field, OpenApiError> {
        Ok(Field {
            type_id: self.reference(property, place, preserve)?,
            default: property.get("default").cloned(),
            written: Written::WhenSet,
            patch: patch_of(property),
        })
    }

    fn list(&mut self, node: &Value, place: &str, preserve: bool) -> Result<List, OpenApiError> {
        let item = match node.get("items") {
            Some(items) => self.reference(items, &format!("{place}[]"), preserve)?,
            None => UNTYPED_ATOMIC,
        };
        Ok(List {
            item,
            list_type: list_type_of(node, place)?,
        })
    }
}

fn scalar_of(primitive: &str, node: &Value) -> Option<Scalar> {
    let format = node
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Some(match (primitive, format) {
        ("boolean", _) => Scalar::Bool,
        ("integer", "int32") => Scalar::Int32,
        ("integer", _) => Scalar::Int64,
        ("number", _) => Scalar::Float,
        ("string", "") => Scalar::Text,
        ("string", "byte") => Scalar::Bytes,
        ("string", "int-or-string") => Scalar::IntOrString,
        ("string", _) => Scalar::Any,
        _ => return None,
    })
}

/// The name in `$ref`, also if it is the only element of `allOf`.
fn reference_of(node: &Value) -> Option<&str> {
    let direct = node.get("$ref");
    let wrapped = || match node.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref"),
        _ => None,
    };
    let text = direct.or_else(wrapped)?.as_str()?;
    text.rsplit('/').next()
}

fn kinds_of(definition: &Value) -> Vec<Kind> {
    let entries = definition
        .get("x-kubernetes-group-version-kind")
        .and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            Some(Kind::new(text("group")?, text("version")?, text("kind")?))
        })
        .collect()
}

/// Sets the Go name of a struct, package and type, and when its fields are written.
fn add_go_facts(parsed: &mut Type, definition: &str, written: Option<&BTreeMap<String, Written>>) {
    let Type::Map(map) = parsed else {
        return;
    };
    let mut parts = definition.rsplit('.');
    if let (Some(name), Some(package)) = (parts.next(), parts.next()) {
        map.name = format!("{package}.{name}");
    }
    for (name, how) in written.into_iter().flatten() {
        if let Some(field) = map.fields.get_mut(name) {
            field.written = *how;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::from_openapi;
    use crate::schema::{SchemaType, Written};

    #[test]
    fn property_overrides_the_map_type_of_its_reference() {
        let kind = json!([{"group": "", "version": "v1", "kind": "Thing"}]);
        let reference = json!([{"$ref": "#/components/schemas/a.v1.Whole"}]);
        let definitions: BTreeMap<String, Value> = [
            (
                "a.v1.Thing".to_owned(),
                json!({"type": "object", "x-kubernetes-group-version-kind": kind, "properties": {
                    "whole": {"allOf": reference},
                    "parts": {"allOf": reference, "x-kubernetes-map-type": "granular"},
                }}),
            ),
            (
                "a.v1.Whole".to_owned(),
                json!({"type": "object", "x-kubernetes-map-type": "atomic",
                       "properties": {"a": {"type": "string"}}}),
            ),
        ]
        .into();
        let fields = [("whole".to_owned(), Written::AlwaysOrZero)].into();
        let written = [("a.v1.Thing".to_owned(), fields)].into();
        let schema = from_openapi(&definitions, &written).unwrap();
        let thing = schema.kind(&Kind::new("", "v1", "Thing")).unwrap();
        let is_atomic = |field: SchemaType<'_>| field.map().is_some_and(|map| map.atomic);
        assert!(is_atomic(thing.field("whole").unwrap()));
        assert!(!is_atomic(thing.field("parts").unwrap()));
        assert!(thing.field("parts").unwrap().field("a").is_some());
        assert_eq!(thing.zero(), json!({"whole": {}}));
    }

    #[test]
    fn invalid_schema_is_an_error() {
        let definition = |node: Value| [("a.v1.X".to_owned(), node)].into();
        for node in [
            json!({"type": "object", "properties": {"a": {"$ref": "#/components/schemas/gone"}}}),
            json!({"type": "array", "x-kubernetes-list-type": "map", "items": {}}),
            json!({"type": "tuple"}),
        ] {
            let read = from_openapi(&definition(node.clone()), &BTreeMap::new());
            assert!(read.is_err(), "{node}");
        }
    }
}
