use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::{FieldSet, KeyValue, PathElement};

/// A `fieldsV1` that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read fieldsV1: {what}; send the entry as the server wrote it")]
pub struct ParseFieldsError {
    what: String,
}

impl FieldSet {
    /// Reads `fieldsV1`. Steps of a kind that is not known are left out, as Kubernetes does.
    pub fn from_value(value: &Value) -> Result<Self, ParseFieldsError> {
        let mut set = Self::new();
        let Value::Object(fields) = value else {
            return Err(ParseFieldsError {
                what: format!("an object is expected, not {value}"),
            });
        };
        for (name, below) in fields.iter().filter(|(name, _)| *name != ".") {
            let Some(element) = parse_element(name)? else {
                continue;
            };
            let below_set = Self::from_value(below)?;
            // A step without steps below it is a member, with or without its dot.
            let is_member = below_set.is_empty() || below.get(".").is_some();
            set.graft(element, is_member, below_set);
        }
        Ok(set)
    }

    /// The set as `fieldsV1`.
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        for (element, is_member, below) in self.steps() {
            let Value::Object(mut inner) = below.to_value() else {
                continue;
            };
            if is_member && !inner.is_empty() {
                inner.insert(".".to_owned(), Value::Object(Map::new()));
            }
            fields.insert(print_element(element), Value::Object(inner));
        }
        Value::Object(fields)
    }
}

/// In the order of Kubernetes: the dot, names, keys, values, indexes.
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
        _ => return Err(fail("a letter and a colon are missing")),
    };
    let json = || serde_json::from_str::<Value>(content).map_err(|_| fail("there is no JSON"));
    Ok(Some(match kind {
        "f:" => PathElement::field(content),
        "v:" => PathElement::value(json()?),
        "k:" => match json()? {
            Value::Object(fields) => PathElement::key(fields),
            _ => return Err(fail("there is no JSON object")),
        },
        "i:" => PathElement::Index(content.parse().map_err(|_| fail("there is no number"))?),
        _ => return Ok(None),
    }))
}

fn print_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), print(value)))
                .collect();
            format!("k:{{{}}}", fields.join(","))
        }
        PathElement::Value(value) => format!("v:{}", print(value)),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

/// Go's JSON escapes what HTML could misread; these characters occur only inside strings.
fn print(value: &KeyValue) -> String {
    value
        .0
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
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
    fn unknown_steps_are_left_out_and_broken_ones_refused() {
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
