//! Validation of an object against its type, with the messages of structured-merge-diff.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::{go_print, item};
use crate::fields::PathElement;
use crate::schema::{Atom, List, ListType, Map, Scalar, SchemaType};

/// Whether items of a list may have equal keys, as in stored objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    Rejected,
    Allowed,
}

/// Validates an object; the message lists every error with its path.
pub(super) fn validate(
    value: &Value,
    schema: SchemaType<'_>,
    duplicates: Duplicates,
) -> Result<(), String> {
    let mut validator = Validator {
        duplicates,
        errors: Vec::new(),
    };
    validator.value(value, schema, &Place::Object);
    match validator.errors.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Validator {
    duplicates: Duplicates,
    errors: Vec<String>,
}

/// The path of a value, which is formatted only for an error.
#[derive(Clone, Copy)]
enum Place<'a> {
    Object,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, &'a PathElement),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object => Ok(()),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, element) => write!(f, "{parent}{element}"),
        }
    }
}

impl Validator {
    fn error(&mut self, place: &Place<'_>, what: &str) {
        self.errors.push(match place {
            Place::Object => what.to_owned(),
            place => format!("{place}: {what}"),
        });
    }

    fn value(&mut self, value: &Value, schema: SchemaType<'_>, place: &Place<'_>) {
        match schema.atom(Some(value)) {
            Atom::Scalar(scalar) => {
                if let Some(what) = scalar_error(value, scalar) {
                    self.error(place, &what);
                }
            }
            Atom::List(list) => match value {
                Value::Null => {}
                Value::Array(items) => self.items(items, list, schema, place),
                other => {
                    let what = format!("expected list, got &{{{}}}", go_print::plain(other));
                    self.error(place, &what);
                }
            },
            Atom::Map(map) => match value {
                Value::Null => {}
                Value::Object(_) => self.entries(value, map, schema, place),
                other => {
                    let what = format!("expected map, got &{{{}}}", go_print::plain(other));
                    self.error(place, &what);
                }
            },
        }
    }

    fn items(&mut self, items: &[Value], list: &List, schema: SchemaType<'_>, place: &Place<'_>) {
        let mut seen = BTreeSet::new();
        for (index, value) in items.iter().enumerate() {
            let element = match list.list_type {
                ListType::Atomic => PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX)),
                ListType::Set | ListType::Map(_) => match item::element(value, list, schema) {
                    Ok(element) => element,
                    Err(what) => return self.error(place, &format!("element {index}: {what}")),
                },
            };
            if seen.contains(&element) {
                self.error(place, &format!("duplicate entries for key {element}"));
            }
            self.value(value, schema.at(list.item), &Place::Item(place, &element));
            if self.duplicates == Duplicates::Rejected {
                seen.insert(element);
            }
        }
    }

    fn entries(&mut self, value: &Value, map: &Map, schema: SchemaType<'_>, place: &Place<'_>) {
        for (name, field) in value.as_object().into_iter().flatten() {
            let field_place = Place::Field(place, name);
            let Some(entry) = schema.at_field(map, name) else {
                return self.error(&field_place, "field not declared in schema");
            };
            self.value(field, entry, &field_place);
        }
    }
}

fn scalar_error(value: &Value, scalar: Scalar) -> Option<String> {
    match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Text | Scalar::Bytes, Value::String(_))
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::Int32 | Scalar::Int64 | Scalar::Float, Value::Number(_)) => None,
        (Scalar::Text | Scalar::Bytes, other) => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go_print::syntax(other)
        )),
        (Scalar::Bool, other) => Some(format!(
            "expected boolean, got &{{{}}}",
            go_print::plain(other)
        )),
        (Scalar::Int32 | Scalar::Int64 | Scalar::Float, other) => Some(format!(
            "expected numeric (int or float), got {}",
            go_print::type_name(other)
        )),
        (_, Value::String(_) | Value::Number(_) | Value::Bool(_)) => None,
        (_, other) => Some(format!(
            "expected any scalar, got &{{{}}}",
            go_print::plain(other)
        )),
    }
}
