//! Field sets as `fieldsV1`.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::element::{KeyValue, PathElement};
use super::set::{FieldSet, Node};

/// An invalid `fieldsV1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read fieldsV1: {what}; send the entry as the server wrote it")]
pub struct ParseFieldsError {
    what: String,
}

impl FieldSet {
    /// Reads `fieldsV1`. Path elements with an unknown prefix are ignored, as in Kubernetes.
    pub fn from_value(value: &Value) -> Result<Self, ParseFieldsError> {
        let Value::Object(fields) = value else {
            return Err(ParseFieldsError {
                what: format!("an object is expected, not {value}"),
            });
        };
        let mut nodes = Vec::with_capacity(fields.len());
        for (name, below) in fields.iter().filter(|(name, _)| *name != ".") {
            let Some(element) = parse_element(name)? else {
                continue;
            };
            let below_set = Self::from_value(below)?;
            // An element without elements below it is a member, with or without its dot.
            let is_member = below_set.is_empty() || below.get(".").is_some();
            nodes.push((element, Node::new(is_member, below_set)));
        }
        Ok(Self::of(nodes))
    }

    /// The set as `fieldsV1`.
    pub fn to_value(&self) -> Value {
        self.to_value_with(false)
    }

    fn to_value_with(&self, has_dot: bool) -> Value {
        let mut fields = Map::new();
        if has_dot {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (element, is_member, below) in self.steps() {
            let below_has_dot = is_member && !below.is_empty();
            fields.insert(print_element(element), below.to_value_with(below_has_dot));
        }
        Value::Object(fields)
    }
}

/// Writes the members in the order of Kubernetes: the dot, names, keys, values, indexes.
impl Serialize for FieldSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Below {
            set: self,
            has_dot: false,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FieldSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).map_err(D::Error::custom)
    }
}

struct Below<'a> {
    set: &'a FieldSet,
    has_dot: bool,
}

impl Serialize for Below<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.has_dot {
            map.serialize_entry(".", &Map::new())?;
        }
        for (element, is_member, set) in self.set.steps() {
            let has_dot = is_member && !set.is_empty();
            map.serialize_entry(&print_element(element), &Below { set, has_dot })?;
        }
        map.end()
    }
}

fn parse_element(text: &str) -> Result<Option<PathElement>, ParseFieldsError> {
    let fail = |what: &str| ParseFieldsError {
        what: format!("{what} in {text:?}"),
    };
    let (kind, content) = match text.split_at_checked(2) {
        Some((kind, content)) if kind.ends_with(':') => (kind, content),
        _ => return Err(fail("the prefix, a letter and a colon, is missing")),
    };
    let json = || serde_json::from_str::<Value>(content).map_err(|_| fail("invalid JSON"));
    Ok(Some(match kind {
        "f:" => PathElement::field(content),
        "v:" => PathElement::value(json()?),
        "k:" => match json()? {
            Value::Object(fields) => PathElement::key(fields),
            _ => return Err(fail("a JSON object is expected")),
        },
        "i:" => PathElement::Index(content.parse().map_err(|_| fail("invalid index"))?),
        _ => return Ok(None),
    }))
}

fn print_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => ["f:", name].concat(),
        PathElement::Key(fields) => {
            let mut text = "k:{".to_owned();
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                print_text(name, &mut text);
                text.push(':');
                print(value, &mut text);
            }
            text.push('}');
            text
        }
        PathElement::Value(value) => {
            let mut text = "v:".to_owned();
            print(value, &mut text);
            text
        }
        PathElement::Index(index) => format!("i:{index}"),
    }
}

/// Characters that Go's JSON encoder escapes for HTML; they occur only in strings.
const ESCAPED: [(char, &str); 5] = [
    ('<', "\\u003c"),
    ('>', "\\u003e"),
    ('&', "\\u0026"),
    ('\u{2028}', "\\u2028"),
    ('\u{2029}', "\\u2029"),
];

fn print(value: &KeyValue, to: &mut String) {
    if let Value::String(text) = &value.0 {
        return print_text(text, to);
    }
    print_escaped(&value.0, to);
}

/// Most texts are names, which need no escapes.
fn print_text(text: &str, to: &mut String) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\"\\<>&".contains(&byte);
    if text.bytes().all(is_plain) {
        to.extend(["\"", text, "\""]);
        return;
    }
    print_escaped(&Value::from(text), to);
}

fn print_escaped(value: &Value, to: &mut String) {
    let mut text = value.to_string();
    for (character, escape) in ESCAPED {
        if text.contains(character) {
            text = text.replace(character, escape);
        }
    }
    to.push_str(&text);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FieldSet;

    #[test]
    fn field_sets_are_written_in_the_order_of_kubernetes() {
        let text = concat!(
            r#"{"f:data":{".":{},"f:a":{}},"f:l":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}},"#,
            r#""k:{\"name\":\"d\",\"port\":80}":{},"v:\"x\\u003c\"":{},"i:2":{}}}"#
        );
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let set = FieldSet::from_value(&value).unwrap();
        assert_eq!(set.to_value(), value);
        assert_eq!(set.len(), 7);
        assert_eq!(serde_json::to_string(&set).unwrap(), text);
    }

    #[test]
    fn unknown_elements_are_ignored_and_invalid_ones_are_errors() {
        let set = FieldSet::from_value(&json!({"z:what": {}, "f:a": {}})).unwrap();
        assert_eq!(set.to_value(), json!({"f:a": {}}));
        for broken in [
            json!({"a": {}}),
            json!({"v:x": {}}),
            json!({"i:x": {}}),
            json!([]),
        ] {
            assert!(FieldSet::from_value(&broken).is_err(), "{broken}");
        }
    }
}
