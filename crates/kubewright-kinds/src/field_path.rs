//! A field of an object: its path as Kubernetes writes it, and its value.

use std::fmt;

use serde_json::Value;

/// The path to a field of an object under validation, with the value of that field.
///
/// The path is formatted only when an error or a warning is reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    step: Step<'a>,
    value: &'a Value,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

static ABSENT: Value = Value::Null;

impl<'a> FieldPath<'a> {
    /// A top-level field of an object.
    pub(crate) fn new(object: &'a Value, name: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Field(name),
            value: object.get(name).unwrap_or(&ABSENT),
        }
    }

    /// This path with another value.
    pub(crate) fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    pub(crate) fn field(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath {
            parent: Some(self),
            step: Step::Field(name),
            value: self.value.get(name).unwrap_or(&ABSENT),
        }
    }

    pub(crate) fn key(&'a self, key: &'a str) -> FieldPath<'a> {
        FieldPath {
            step: Step::Key(key),
            ..self.field(key)
        }
    }

    pub(crate) fn index(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath {
            parent: Some(self),
            step: Step::Index(index),
            value: self.value.get(index).unwrap_or(&ABSENT),
        }
    }

    /// The items of a list.
    pub(crate) fn items(&'a self) -> impl Iterator<Item = FieldPath<'a>> {
        (0..self.len()).map(|index| self.index(index))
    }

    /// The entries of a map, sorted by key.
    pub(crate) fn entries(&'a self) -> impl Iterator<Item = (&'a str, FieldPath<'a>)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(move |(key, value)| {
            let entry = FieldPath {
                parent: Some(self),
                step: Step::Key(key),
                value,
            };
            (key.as_str(), entry)
        })
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The string value; empty when it is absent or of another type.
    pub(crate) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// The string value of a member; empty when it is absent.
    pub(crate) fn text_of(&self, name: &str) -> &'a str {
        let member = self.value.get(name).and_then(Value::as_str);
        member.unwrap_or_default()
    }

    pub(crate) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(crate) fn is_true(&self) -> bool {
        self.value.as_bool() == Some(true)
    }

    pub(crate) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether a member is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some_and(|value| !value.is_null())
    }

    /// The number of items or entries.
    pub(crate) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn path(&self) -> String {
        self.to_string()
    }
}

/// The path as `field.Path` of k8s.io/apimachinery writes it.
impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            fmt::Display::fmt(parent, f)?;
        }
        match self.step {
            Step::Field(name) if self.parent.is_some() => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FieldPath;

    #[test]
    fn paths_are_written_as_kubernetes_does() {
        let object = json!({"spec": {"items": [{"map": {"a.b/c": 1}}]}});
        let spec = FieldPath::new(&object, "spec");
        let items = spec.field("items");
        let item = items.index(0);
        let map = item.field("map");
        assert_eq!(map.key("a.b/c").path(), "spec.items[0].map[a.b/c]");
        assert_eq!(map.key("a.b/c").number(), Some(1));
        assert!(!item.field("none").is_set());
    }
}
