//! Members of JSON values, as the rules of the kinds and the API server read and write them.

use serde_json::{Map, Value};

/// The string; empty when the value is of another type.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The items of a list; none when the value is of another type.
pub fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The objects in a list.
pub(crate) fn objects_mut(
    list: Option<&mut Value>,
) -> impl Iterator<Item = &mut Map<String, Value>> {
    let items = list.and_then(Value::as_array_mut).into_iter().flatten();
    items.filter_map(Value::as_object_mut)
}

/// The object in a field.
pub(crate) fn object_mut<'a>(
    object: &'a mut Map<String, Value>,
    field: &str,
) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(field).and_then(Value::as_object_mut)
}

/// Sets a field that is absent or null.
pub(crate) fn set_absent(object: &mut Map<String, Value>, field: &str, value: Value) {
    if object.get(field).is_none_or(Value::is_null) {
        object.insert(field.to_owned(), value);
    }
}

/// Whether a map is absent or empty.
pub(crate) fn is_empty_map(value: Option<&Value>) -> bool {
    value.and_then(Value::as_object).is_none_or(Map::is_empty)
}
