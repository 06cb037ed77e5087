//! Values as Go prints them, for error messages.

use serde_json::Value;

use crate::status::quoted;

/// The value as Go's `%v` prints it.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let printed: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", printed.join(" "))
        }
        Value::Object(fields) => {
            let printed: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", plain(value)))
                .collect();
            format!("map[{}]", printed.join(" "))
        }
    }
}

/// The value as Go's `%#v` prints it.
pub(super) fn syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => quoted(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let printed: Vec<String> = items.iter().map(syntax).collect();
            format!("[]interface {{}}{{{}}}", printed.join(", "))
        }
        Value::Object(fields) => {
            let printed: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", printed.join(", "))
        }
    }
}

/// The type of the value as Go's `%T` prints it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
