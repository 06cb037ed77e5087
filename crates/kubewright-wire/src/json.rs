//! JSON bodies as the API server reads them: with the paths of duplicate fields, and with the error
//! messages of Go.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most duplicate fields that are reported, as in Kubernetes.
const MAX_DUPLICATES: usize = 100;

/// A value, and the paths of its duplicate fields.
#[derive(Debug)]
pub struct Json {
    /// The value; of duplicate fields the last counts.
    pub value: Value,
    /// The paths of duplicate fields.
    pub duplicates: Vec<String>,
}

/// Parses JSON. Errors have the messages of Go's decoder, as far as they are known.
pub fn read(bytes: &[u8]) -> Result<Json, String> {
    let mut place = Place::default();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Node { place: &mut place }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| explain(&error, bytes))?;
    Ok(Json {
        value,
        duplicates: place.duplicates,
    })
}

/// The type of a value in Go's error messages.
pub fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The Go type of a value that was decoded into an interface: a number is an `int64` if it fits into
/// one (k8s.io/apimachinery/pkg/util/json).
pub fn decoded_go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A byte as Go's decoder quotes it: as the character with this code.
fn go_quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        0x0B => "'\\v'".to_owned(),
        0x0C => "'\\f'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        _ if byte.is_ascii_control() => format!("'\\x{byte:02x}'"),
        _ if (0x80..=0xA0).contains(&byte) || byte == 0xAD => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

fn explain(error: &serde_json::Error, bytes: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let text = error.to_string();
    let line = bytes
        .split(|byte| *byte == b'\n')
        .nth(error.line().saturating_sub(1));
    let found = line.and_then(|line| line.get(error.column().saturating_sub(1)));
    match found {
        Some(byte) if text.starts_with("expected value") => format!(
            "invalid character {} looking for beginning of value",
            go_quoted(*byte)
        ),
        _ => text,
    }
}

/// The path of the current value, and the duplicate fields so far.
#[derive(Default)]
struct Place {
    path: Vec<Part>,
    duplicates: Vec<String>,
    /// The elements of `duplicates`, for lookup.
    reported: BTreeSet<String>,
}

/// One segment of a path.
enum Part {
    Index(usize),
    Name(String),
}

impl Place {
    /// The path of the current value.
    fn path(&self) -> String {
        let mut path = String::new();
        for part in &self.path {
            match part {
                Part::Index(index) => path.push_str(&format!("[{index}]")),
                Part::Name(name) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(dot);
                    path.push_str(name);
                }
            }
        }
        path
    }

    fn report_duplicate(&mut self) {
        if self.duplicates.len() >= MAX_DUPLICATES {
            return;
        }
        let path = self.path();
        if self.reported.insert(path.clone()) {
            self.duplicates.push(path);
        }
    }
}

struct Node<'p> {
    place: &'p mut Place,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            self.place.path.push(Part::Index(values.len()));
            let item = items.next_element_seed(Node { place: self.place });
            self.place.path.pop();
            match item? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let is_duplicate = values.contains_key(&name);
            self.place.path.push(Part::Name(name.clone()));
            if is_duplicate {
                self.place.report_duplicate();
            }
            let value = members.next_value_seed(Node { place: self.place });
            self.place.path.pop();
            values.insert(name, value?);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn duplicate_fields_are_reported_and_the_last_counts() {
        let json = read(br#"{"a":{"b":1,"b":2,"b":3},"l":[{"c":1.5,"c":null}]}"#).unwrap();
        assert_eq!(json.value, json!({"a": {"b": 3}, "l": [{"c": null}]}));
        assert_eq!(json.duplicates, ["a.b", "l[0].c"]);
    }

    #[test]
    fn at_most_a_hundred_duplicates_are_reported() {
        let members: Vec<_> = (0..150).map(|n| format!("\"k{n}\":1,\"k{n}\":2")).collect();
        let json = read(format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
        assert_eq!(json.duplicates.len(), 100);
        assert_eq!(json.duplicates[99], "k99");
    }

    #[test]
    fn errors_have_the_messages_of_go() {
        let error = |text: &str| read(text.as_bytes()).unwrap_err();
        assert_eq!(error(""), "unexpected end of JSON input");
        assert_eq!(error("{\"a\":"), "unexpected end of JSON input");
        assert_eq!(
            error("xyz"),
            "invalid character 'x' looking for beginning of value"
        );
        assert!(read(&[b'['; 100_000]).is_err());
        assert!(read(b"{} {}").is_err());
        assert!(read(b"\"\xff\"").is_err());
    }
}
