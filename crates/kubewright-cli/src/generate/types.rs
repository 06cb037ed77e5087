use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::{field_name, type_name, unique};

/// A type to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Struct(Struct),
    Enum(Enum),
}

/// A struct with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) fields: Vec<Field>,
    /// Whether it keeps fields that the schema does not name.
    pub(super) is_open: bool,
    pub(super) has_default: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// As in JSON.
    pub(super) key: String,
    /// As in Rust.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) form: Form,
    pub(super) presence: Presence,
}

/// Whether a field is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// Always there, and may be null.
    Nullable,
    Optional,
}

/// An enum of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) text: String,
    /// (as in JSON, as in Rust)
    pub(super) variants: Vec<(String, String)>,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One of Rust's own, or of a crate's, that has a default.
    Plain(&'static str),
    /// One that is written, too.
    Named {
        name: String,
        has_default: bool,
    },
    List(Box<Form>),
    Map(Box<Form>),
}

const ANY: Form = Form::Plain("serde_json::Value");
const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

impl Form {
    pub(super) fn has_default(&self) -> bool {
        match self {
            Self::Plain(_) | Self::List(_) | Self::Map(_) => true,
            Self::Named { has_default, .. } => *has_default,
        }
    }
}

/// Turns schemas into types, each shape once.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) items: Vec<Item>,
    taken: BTreeSet<String>,
    /// What a schema became, by its text without descriptions.
    known: BTreeMap<String, Form>,
}

impl Types {
    /// With names that must not be given away.
    pub(super) fn new(taken: &[&str]) -> Self {
        Self {
            taken: taken.iter().map(|name| (*name).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// The type of a value; `name` is what a type made for it is called, if it can be.
    pub(super) fn form(&mut self, schema: &Value, name: &str) -> Form {
        if schema["x-kubernetes-int-or-string"] == true {
            return Form::Plain(INT_OR_STRING);
        }
        match schema["type"].as_str() {
            Some("string") => self.string(schema, name),
            Some("integer") if schema["format"] == "int32" => Form::Plain("i32"),
            Some("integer") => Form::Plain("i64"),
            Some("number") => Form::Plain("f64"),
            Some("boolean") => Form::Plain("bool"),
            Some("array") => {
                let items = self.form(&schema["items"], name);
                Form::List(Box::new(items))
            }
            Some("object") => self.object(schema, name),
            _ => ANY,
        }
    }

    fn object(&mut self, schema: &Value, name: &str) -> Form {
        if schema["x-kubernetes-embedded-resource"] == true {
            return ANY;
        }
        let fields = schema["properties"].as_object();
        if fields.is_some_and(|fields| !fields.is_empty()) {
            return self.shaped(schema, |types| types.structure(schema, name));
        }
        match schema.get("additionalProperties") {
            Some(values) if values.is_object() => {
                let values = self.form(values, name);
                Form::Map(Box::new(values))
            }
            _ => Form::Map(Box::new(ANY)),
        }
    }

    fn string(&mut self, schema: &Value, name: &str) -> Form {
        let values = schema["enum"].as_array();
        let values: Vec<&str> = values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if values.is_empty() {
            return Form::Plain("String");
        }
        self.shaped(schema, |types| types.choice(schema, &values, name))
    }

    /// Makes a type for a schema, unless one of the same shape is there.
    fn shaped(&mut self, schema: &Value, make: impl FnOnce(&mut Self) -> Form) -> Form {
        let shape = without_descriptions(schema).to_string();
        if let Some(known) = self.known.get(&shape) {
            return known.clone();
        }
        let form = make(self);
        self.known.insert(shape, form.clone());
        form
    }

    fn choice(&mut self, schema: &Value, values: &[&str], name: &str) -> Form {
        let name = unique(name.to_owned(), &mut self.taken);
        let mut taken = BTreeSet::new();
        let variants = values
            .iter()
            .map(|value| ((*value).to_owned(), unique(type_name(value), &mut taken)))
            .collect();
        self.items.push(Item::Enum(Enum {
            name: name.clone(),
            text: text(schema),
            variants,
        }));
        Form::Named {
            name,
            has_default: false,
        }
    }

    fn structure(&mut self, schema: &Value, name: &str) -> Form {
        let name = unique(name.to_owned(), &mut self.taken);
        let place = self.items.len();
        let fields = self.fields(schema, &name);
        let required = |field: &&Field| field.presence == Presence::Required;
        let mut required = fields.iter().filter(required);
        let has_default = required.all(|field| field.form.has_default());
        let made = Struct {
            name: name.clone(),
            text: text(schema),
            fields,
            is_open: schema["x-kubernetes-preserve-unknown-fields"] == true,
            has_default,
        };
        // Before those that it is made of, as a reader expects them.
        self.items.insert(place, Item::Struct(made));
        Form::Named { name, has_default }
    }

    /// The fields of an object; the types below it are called after `prefix`.
    pub(super) fn fields(&mut self, schema: &Value, prefix: &str) -> Vec<Field> {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut names = BTreeSet::from(["rest".to_owned()]);
        let mut fields = Vec::new();
        for (key, below) in schema["properties"].as_object().into_iter().flatten() {
            let is_nullable = below["nullable"] == true;
            let presence = match required.contains(&key.as_str()) {
                true if is_nullable => Presence::Nullable,
                true => Presence::Required,
                false => Presence::Optional,
            };
            let type_name = format!("{}{}", stem(prefix), type_name(key));
            fields.push(Field {
                key: key.clone(),
                name: unique(field_name(key), &mut names),
                text: text(below),
                form: self.form(below, &type_name),
                presence,
            });
        }
        fields
    }
}

/// `CertificateSpec` has a `CertificateIssuerRef`.
fn stem(name: &str) -> &str {
    name.strip_suffix("Spec")
        .filter(|stem| !stem.is_empty())
        .unwrap_or(name)
}

fn text(schema: &Value) -> String {
    schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The schema without what does not change the type; a field may be called `description`.
fn without_descriptions(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut shape = serde_json::Map::new();
    for (keyword, value) in members {
        let value = match keyword.as_str() {
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
        shape.insert(keyword.clone(), value);
    }
    Value::Object(shape)
}
