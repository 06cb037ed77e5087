//! Path elements of field sets, with their order and text form.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value};

use crate::status::quoted;

/// One step from a value to one of its parts.
///
/// The order is that of `fieldsV1`: names, then keys, then values, then indexes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A field of a struct or an entry of a map.
    Field(String),
    /// The item of a list whose key fields have these values; sorted by name.
    Key(Vec<(String, KeyValue)>),
    /// The item of a set that has this value.
    Value(KeyValue),
    /// The item at this position.
    Index(i64),
}

/// The path from an object to one of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<PathElement>);

/// A JSON value with the equality and the total order of field sets: numbers compare by value, and
/// sort before text, booleans, lists, maps and null.
#[derive(Clone, Debug)]
pub struct KeyValue(pub Value);

impl PathElement {
    /// The step to the named field.
    pub fn field(name: impl Into<String>) -> Self {
        Self::Field(name.into())
    }

    /// The step to the item with these key fields, in any order.
    pub fn key<N: Into<String>>(fields: impl IntoIterator<Item = (N, Value)>) -> Self {
        let mut key: Vec<(String, KeyValue)> = fields
            .into_iter()
            .map(|(name, value)| (name.into(), KeyValue(value)))
            .collect();
        key.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(key)
    }

    /// The step to the item of a set.
    pub fn value(value: Value) -> Self {
        Self::Value(KeyValue(value))
    }
}

impl Path {
    /// The path of nested fields.
    pub fn fields(names: &[&str]) -> Self {
        Self(names.iter().map(|name| PathElement::field(*name)).collect())
    }
}

/// Writes the path as conflicts show it: `.spec.containers[name="web"].image`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let pairs: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                write!(f, "[{}]", pairs.join(","))
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::String(text) => f.write_str(&quoted(text)),
            other => other.fmt(f),
        }
    }
}

impl PartialEq for KeyValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeyValue {}

impl PartialOrd for KeyValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeyValue {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

/// The order of structured-merge-diff's `value.Compare`.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| compare(a, b))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Value::Object(a), Value::Object(b)) => {
            let (mut a, mut b): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
            a.sort_by_key(|(name, _)| *name);
            b.sort_by_key(|(name, _)| *name);
            a.iter()
                .zip(&b)
                .map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    let integer = |n: &Number| n.as_i128();
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => {
            let float = |n: &Number| n.as_f64().unwrap_or_default();
            float(a).total_cmp(&float(b))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{KeyValue, Path, PathElement};

    #[test]
    fn path_is_written_as_in_conflicts() {
        let path = Path(vec![
            PathElement::field("spec"),
            PathElement::key([("protocol", json!("TCP")), ("containerPort", json!(80))]),
            PathElement::value(json!("a\"b")),
            PathElement::Index(3),
        ]);
        assert_eq!(
            path.to_string(),
            r#".spec[containerPort=80,protocol="TCP"][="a\"b"][3]"#
        );
    }

    #[test]
    fn values_are_sorted_by_type_and_value() {
        let sorted = [
            json!(-1),
            json!(1.5),
            json!(2),
            json!("a"),
            json!(false),
            json!(true),
            json!([1]),
            json!([1, 2]),
            json!({"a": 1}),
            json!({"a": 2}),
            json!(null),
        ];
        for pair in sorted.windows(2) {
            let [a, b] = pair else { unreachable!() };
            assert!(KeyValue(a.clone()) < KeyValue(b.clone()), "{a} < {b}");
        }
        assert_eq!(KeyValue(json!(1)), KeyValue(json!(1.0)));
    }
}
