use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::{go_print, item};
use crate::fields::PathElement;
use crate::schema::{Atom, List, ListType, Map, Scalar, SchemaType};

/// Whether items of a list may have equal keys: they may in objects that are stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    Refused,
    Allowed,
}

/// Checks an object against its type; the message lists every fault with its path.
pub(super) fn validate(
    value: &Value,
    schema: SchemaType<'_>,
    duplicates: Duplicates,
) -> Result<(), String> {
    let mut walk = Walk {
        duplicates,
        faults: Vec::new(),
    };
    walk.value(value, schema, &Place::Object);
    match walk.faults.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Walk {
    duplicates: Duplicates,
    faults: Vec<String>,
}

/// Where a value stands; written out only for a fault.
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
            Self::Field(above, name) => write!(f, "{above}.{name}"),
            Self::Item(above, element) => write!(f, "{above}{element}"),
        }
    }
}

impl Walk {
    fn fault(&mut self, place: &Place<'_>, what: &str) {
        self.faults.push(match place {
            Place::Object => what.to_owned(),
            place => format!("{place}: {what}"),
        });
    }

    fn value(&mut self, value: &Value, schema: SchemaType<'_>, place: &Place<'_>) {
        match schema.atom(Some(value)) {
            Atom::Scalar(scalar) => {
                if let Some(what) = scalar_fault(value, scalar) {
                    self.fault(place, &what);
                }
            }
            Atom::List(list) => match value {
                Value::Null => {}
                Value::Array(items) => self.items(items, list, schema, place),
                other => {
                    let what = format!("expected list, got &{{{}}}", go_print::plain(other));
                    self.fault(place, &what);
                }
            },
            Atom::Map(map) => match value {
                Value::Null => {}
                Value::Object(_) => self.entries(value, map, schema, place),
                other => {
                    let what = format!("expected map, got &{{{}}}", go_print::plain(other));
                    self.fault(place, &what);
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
                    Err(what) => return self.fault(place, &format!("element {index}: {what}")),
                },
            };
            if seen.contains(&element) {
                self.fault(place, &format!("duplicate entries for key {element}"));
            }
            self.value(value, schema.at(list.item), &Place::Item(place, &element));
            if self.duplicates == Duplicates::Refused {
                seen.insert(element);
            }
        }
    }

    fn entries(&mut self, value: &Value, map: &Map, schema: SchemaType<'_>, place: &Place<'_>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let place = Place::Field(place, name);
            let Some(entry) = schema.at_field(map, name) else {
                return self.fault(&place, "field not declared in schema");
            };
            self.value(value, entry, &place);
        }
    }
}

fn scalar_fault(value: &Value, scalar: Scalar) -> Option<String> {
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
