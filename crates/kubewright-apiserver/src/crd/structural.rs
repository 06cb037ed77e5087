use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::go_regex::GoRegex;

/// One node of a schema in the form in which objects are checked against it.
#[derive(Clone, Debug, Default)]
pub(super) struct Structural {
    pub(super) kind: Option<String>,
    pub(super) nullable: bool,
    pub(super) form: Form,
    pub(super) properties: BTreeMap<String, Structural>,
    /// The schema of entries that are not named.
    pub(super) rest: Option<Box<Structural>>,
    pub(super) item: Option<Box<Structural>>,
    pub(super) required: Vec<String>,
    pub(super) default: Option<Value>,
    pub(super) limits: Limits,
    pub(super) list: ListKind,
    pub(super) logic: Logic,
}

/// The extensions that change what a node takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Plain,
    IntOrString,
    /// A whole object with its own `apiVersion`, `kind` and `metadata`.
    Embedded,
}

/// What tells the items of a list apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ListKind {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// Bounds on a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    pub(super) enumeration: Enumeration,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) pattern: Option<GoRegex>,
    pub(super) format: Option<String>,
    pub(super) min_items: Option<u64>,
    pub(super) max_items: Option<u64>,
    pub(super) min_properties: Option<u64>,
    pub(super) max_properties: Option<u64>,
}

/// The values that are allowed; none where all are.
#[derive(Clone, Debug, Default)]
pub(super) struct Enumeration {
    pub(super) values: Vec<Value>,
    /// The same as texts, to be found at once.
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

    pub(super) fn allows(&self, value: &Value) -> bool {
        self.values.is_empty() || self.texts.contains(&value.to_string())
    }
}

/// A number that a value may not pass.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) value: f64,
    /// As it was written, for messages.
    pub(super) shown: String,
    pub(super) exclusive: bool,
}

/// Alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Logic {
    pub(super) all_of: Vec<Structural>,
    pub(super) any_of: Vec<Structural>,
    pub(super) one_of: Vec<Structural>,
    pub(super) not: Option<Box<Structural>>,
}

impl Structural {
    pub(super) fn compile(schema: &Value) -> Self {
        let flag = |name: &str| schema[name] == true;
        let form = match () {
            () if flag("x-kubernetes-int-or-string") => Form::IntOrString,
            () if flag("x-kubernetes-embedded-resource") => Form::Embedded,
            () => Form::Plain,
        };
        let child = |name: &str| {
            let below = schema.get(name).filter(|below| below.is_object());
            below.map(|below| Box::new(Self::compile(below)))
        };
        let children = |name: &str| -> Vec<Self> {
            let below = schema[name].as_array().into_iter().flatten();
            below.map(Self::compile).collect()
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let required = schema["required"].as_array().into_iter().flatten();
        Self {
            kind: schema["type"].as_str().map(str::to_owned),
            nullable: flag("nullable"),
            form,
            properties: properties
                .map(|(name, below)| (name.clone(), Self::compile(below)))
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

    /// The schema of the entry of that name.
    pub(super) fn entry(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.rest.as_deref())
    }
}

impl ListKind {
    pub(super) fn compile(schema: &Value) -> Self {
        match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Self::Set,
            Some("map") => {
                let keys = schema["x-kubernetes-list-map-keys"].as_array();
                let keys = keys.into_iter().flatten().filter_map(Value::as_str);
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
