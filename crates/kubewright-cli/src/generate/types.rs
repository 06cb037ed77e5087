//! Schemas as Rust types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::{field_name, type_name, unique};
use crate::objects::text;

/// A type to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Struct(Struct),
    Enum(Enum),
}

/// A struct with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) fields: Vec<Field>,
    /// Whether it has a field for all that the schema does not define.
    pub(super) is_open: bool,
    pub(super) has_default: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The name in JSON.
    pub(super) key: String,
    /// The name in Rust.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) value: RustType,
    pub(super) presence: Presence,
}

/// Whether a field is always present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// Always present, but may be null.
    Nullable,
    Optional,
}

/// An enum of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// The string in JSON.
    pub(super) value: String,
    /// The name in Rust.
    pub(super) name: String,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RustType {
    /// A type of Rust or of a crate; it has a default.
    Existing(&'static str),
    /// A generated type.
    Named {
        name: String,
        has_default: bool,
    },
    List(Box<RustType>),
    Map(Box<RustType>),
}

const ANY: RustType = RustType::Existing("serde_json::Value");
const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

impl RustType {
    pub(super) fn has_default(&self) -> bool {
        match self {
            Self::Existing(_) | Self::List(_) | Self::Map(_) => true,
            Self::Named { has_default, .. } => *has_default,
        }
    }
}

/// Converts schemas into types; equal schemas become one type.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) items: Vec<Item>,
    taken: BTreeSet<String>,
    /// The types of schemas, by the text of the schema without descriptions.
    known: BTreeMap<String, RustType>,
}

impl Types {
    /// Returns an empty list of types that does not use the taken names.
    pub(super) fn new(taken: &[&str]) -> Self {
        Self {
            taken: taken.iter().map(|name| (*name).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Returns the type of a value. A generated type gets the name, or one derived from it.
    pub(super) fn type_of(&mut self, schema: &Value, name: &str) -> RustType {
        if schema["x-kubernetes-int-or-string"] == true {
            return RustType::Existing(INT_OR_STRING);
        }
        match schema["type"].as_str() {
            Some("string") => self.string(schema, name),
            Some("integer") if schema["format"] == "int32" => RustType::Existing("i32"),
            Some("integer") => RustType::Existing("i64"),
            Some("number") => RustType::Existing("f64"),
            Some("boolean") => RustType::Existing("bool"),
            Some("array") => {
                let items = self.type_of(&schema["items"], name);
                RustType::List(Box::new(items))
            }
            Some("object") => self.object(schema, name),
            _ => ANY,
        }
    }

    fn object(&mut self, schema: &Value, name: &str) -> RustType {
        if schema["x-kubernetes-embedded-resource"] == true {
            return ANY;
        }
        let fields = schema["properties"].as_object();
        if fields.is_some_and(|fields| !fields.is_empty()) {
            return self.unique_type(schema, |types| types.structure(schema, name));
        }
        match schema.get("additionalProperties") {
            Some(values) if values.is_object() => {
                let values = self.type_of(values, name);
                RustType::Map(Box::new(values))
            }
            _ => RustType::Map(Box::new(ANY)),
        }
    }

    fn string(&mut self, schema: &Value, name: &str) -> RustType {
        let values: Vec<&str> = schema["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if values.is_empty() {
            return RustType::Existing("String");
        }
        self.unique_type(schema, |types| types.enumeration(schema, &values, name))
    }

    /// Returns the type of an equal schema, or generates one.
    fn unique_type(
        &mut self,
        schema: &Value,
        generate: impl FnOnce(&mut Self) -> RustType,
    ) -> RustType {
        let shape = without_descriptions(schema).to_string();
        if let Some(known) = self.known.get(&shape) {
            return known.clone();
        }
        let generated = generate(self);
        self.known.insert(shape, generated.clone());
        generated
    }

    fn enumeration(&mut self, schema: &Value, values: &[&str], name: &str) -> RustType {
        let name = unique(name.to_owned(), &mut self.taken);
        let mut taken = BTreeSet::new();
        let variants = values
            .iter()
            .map(|value| Variant {
                value: (*value).to_owned(),
                name: unique(type_name(value), &mut taken),
            })
            .collect();
        self.items.push(Item::Enum(Enum {
            name: name.clone(),
            description: description(schema),
            variants,
        }));
        RustType::Named {
            name,
            has_default: false,
        }
    }

    fn structure(&mut self, schema: &Value, name: &str) -> RustType {
        let name = unique(name.to_owned(), &mut self.taken);
        let index = self.items.len();
        let fields = self.fields(schema, &name);
        let has_default = fields
            .iter()
            .filter(|field| field.presence == Presence::Required)
            .all(|field| field.value.has_default());
        let structure = Struct {
            name: name.clone(),
            description: description(schema),
            fields,
            is_open: schema["x-kubernetes-preserve-unknown-fields"] == true,
            has_default,
        };
        // A struct comes before the types of its fields.
        self.items.insert(index, Item::Struct(structure));
        RustType::Named { name, has_default }
    }

    /// Returns the fields of an object. The names of generated types for them start with the prefix.
    pub(super) fn fields(&mut self, schema: &Value, prefix: &str) -> Vec<Field> {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut names = BTreeSet::from(["rest".to_owned()]);
        let mut fields = Vec::new();
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let presence = if !required.contains(&key.as_str()) {
                Presence::Optional
            } else if property["nullable"] == true {
                Presence::Nullable
            } else {
                Presence::Required
            };
            let type_name = format!("{}{}", stem(prefix), type_name(key));
            fields.push(Field {
                key: key.clone(),
                name: unique(field_name(key), &mut names),
                description: description(property),
                value: self.type_of(property, &type_name),
                presence,
            });
        }
        fields
    }
}

/// Returns the prefix for types of fields: a field of `CertificateSpec` has the type
/// `CertificateIssuerRef`.
fn stem(name: &str) -> &str {
    name.strip_suffix("Spec")
        .filter(|stem| !stem.is_empty())
        .unwrap_or(name)
}

fn description(schema: &Value) -> String {
    text(&schema["description"]).to_owned()
}

/// Returns the schema without keywords that do not change the type. Names of fields are kept, as a
/// field may be called `description`.
fn without_descriptions(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut shape = serde_json::Map::new();
    for (keyword, value) in members {
        let reduced = match keyword.as_str() {
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields
                    .map(|(name, field)| (name.clone(), without_descriptions(field)))
                    .collect()
            }
            "items" | "additionalProperties" => without_descriptions(value),
            "type" | "format" | "enum" | "required" | "nullable" => value.clone(),
            other if other.starts_with("x-kubernetes-") && value.is_boolean() => value.clone(),
            _ => continue,
        };
        shape.insert(keyword.clone(), reduced);
    }
    Value::Object(shape)
}
