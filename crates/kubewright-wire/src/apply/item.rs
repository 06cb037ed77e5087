//! Path elements of list items.

use serde_json::Value;

use crate::fields::PathElement;
use crate::schema::{List, ListType, SchemaType};
use crate::status::quoted;

/// The path element of an item of a set or of a list with keys. Keys that the item does not have
/// get the defaults of its type, including zero values.
pub(super) fn element(
    item: &Value,
    list: &List,
    schema: SchemaType<'_>,
) -> Result<PathElement, String> {
    match &list.list_type {
        ListType::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListType::Set => set_element(item),
        ListType::Map(keys) => keyed_element(item, keys, schema.at(list.item)),
    }
}

/// The items of such a list, sorted by path element; `None` for an element that several items have.
/// Items without a path element are omitted.
pub(super) fn by_element<'v>(
    items: &'v [Value],
    list: &List,
    schema: SchemaType<'_>,
) -> impl Iterator<Item = (PathElement, Option<&'v Value>)> {
    let mut sorted: Vec<(PathElement, &Value)> = items
        .iter()
        .filter_map(|value| Some((element(value, list, schema).ok()?, value)))
        .collect();
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut rest = sorted.into_iter().peekable();
    std::iter::from_fn(move || {
        let (element, value) = rest.next()?;
        let mut only = Some(value);
        while rest.next_if(|(next, _)| *next == element).is_some() {
            only = None;
        }
        Some((element, only))
    })
}

fn set_element(item: &Value) -> Result<PathElement, String> {
    let message = match item {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        scalar => return Ok(PathElement::value(scalar.clone())),
    };
    Err(message.to_owned())
}

fn keyed_element(
    item: &Value,
    keys: &[String],
    schema: SchemaType<'_>,
) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let found: Vec<(&str, Value)> = keys
        .iter()
        .filter_map(|key| {
            let default = || schema.declared(key)?.default.clone();
            let value = fields.get(key).cloned().or_else(default)?;
            Some((key.as_str(), value))
        })
        .collect();
    if found.is_empty() {
        let names: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] \
             (and doesn't have default values for any key fields)",
            names.join(" ")
        ));
    }
    Ok(PathElement::key(found))
}
