//! Schemas in the form that objects are validated by.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use kubewright_cel::GoRegex;

use crate::json::items;

/// A node of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structural {
    pub(crate) kind: Option<String>,
    pub(crate) nullable: bool,
    pub(crate) form: Form,
    pub(crate) properties: BTreeMap<String, Structural>,
    /// The schema of entries that `properties` does not have.
    pub(crate) rest: Option<Box<Structural>>,
    pub(crate) item: Option<Box<Structural>>,
    pub(crate) required: Vec<String>,
    pub(crate) default: Option<Value>,
    pub(crate) limits: Limits,
    pub(crate) list: ListKind,
    pub(crate) logic: Logic,
}

/// The extensions that change which values a node allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Plain,
    IntOrString,
    /// An object with its own `apiVersion`, `kind` and `metadata`.
    Embedded,
}

/// What identifies the items of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListKind {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// The bounds of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) enumeration: Enumeration,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) pattern: Option<GoRegex>,
    pub(crate) format: Option<String>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_properties: Option<u64>,
    pub(crate) max_properties: Option<u64>,
}

/// The allowed values; empty when all are allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Enumeration {
    pub(crate) values: Vec<Value>,
    /// The values as JSON, for lookup.
    texts: BTreeSet<String>,
}

impl Enumeration {
    fn compile(values: Option<&Vec<Value>>) -> Self {
        let values = values.cloned().unwrap_or_default();
        Self {
            texts: values.iter().map(Value::to_string).collect(),
            values,
        }
    }

    pub(crate) fn allows(&self, value: &Value) -> bool {
        self.values.is_empty() || self.texts.contains(&value.to_string())
    }
}

/// A minimum or maximum.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    /// As the schema writes it, for messages.
    pub(crate) shown: String,
    pub(crate) exclusive: bool,
}

/// The alternatives of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logic {
    pub(crate) all_of: Vec<Structural>,
    pub(crate) any_of: Vec<Structural>,
    pub(crate) one_of: Vec<Structural>,
    pub(crate) not: Option<Box<Structural>>,
}

impl Structural {
    pub(crate) fn compile(schema: &Value) -> Self {
        let flag = |name: &str| schema[name] == true;
        let form = if flag("x-kubernetes-int-or-string") {
            Form::IntOrString
        } else if flag("x-kubernetes-embedded-resource") {
            Form::Embedded
        } else {
            Form::Plain
        };
        let child = |name: &str| {
            let child = schema.get(name).filter(|child| child.is_object());
            child.map(|child| Box::new(Self::compile(child)))
        };
        let children =
            |name: &str| -> Vec<Self> { items(&schema[name]).map(Self::compile).collect() };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let required = items(&schema["required"]);
        Self {
            kind: schema["type"].as_str().map(str::to_owned),
            nullable: flag("nullable"),
            form,
            properties: properties
                .map(|(name, property)| (name.clone(), Self::compile(property)))
                .collect(),
            rest: child("additionalProperties"),
            item: child("items"),
            required: required
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            default: schema.get("default").cloned(),
            limits: Limits::compile(schema),
            list: ListKind::compile(schema),
            logic: Logic {
                all_of: children("allOf"),
                any_of: children("anyOf"),
                one_of: children("oneOf"),
                not: child("not"),
            },
        }
    }

    /// The schema of an entry.
    pub(crate) fn entry(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.rest.as_deref())
    }
}

impl ListKind {
    pub(crate) fn compile(schema: &Value) -> Self {
        match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Self::Set,
            Some("map") => {
                let keys = items(&schema["x-kubernetes-list-map-keys"]).filter_map(Value::as_str);
                Self::Map(keys.map(str::to_owned).collect())
            }
            _ => Self::Atomic,
        }
    }
}

impl Limits {
    fn compile(schema: &Value) -> Self {
        let count = |name: &str| schema[name].as_u64();
        let bound = |name: &str, exclusive: &str| {
            schema[name].as_f64().map(|value| Bound {
                value,
                shown: schema[name].to_string(),
                exclusive: schema[exclusive] == true,
            })
        };
        Self {
            enumeration: Enumeration::compile(schema["enum"].as_array()),
            minimum: bound("minimum", "exclusiveMinimum"),
            maximum: bound("maximum", "exclusiveMaximum"),
            multiple_of: schema["multipleOf"].as_f64(),
            min_length: count("minLength"),
            max_length: count("maxLength"),
            pattern: schema["pattern"]
                .as_str()
                .and_then(|text| GoRegex::new(text).ok()),
            format: schema["format"].as_str().map(str::to_owned),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
        }
    }
}
