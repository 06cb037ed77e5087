use std::fmt;

use serde_json::Value;

/// A place in an object under validation: the value there and the way to it.
///
/// The path is written out only where something is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    above: Option<&'a At<'a>>,
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

impl<'a> At<'a> {
    /// A top field of an object.
    pub(super) fn top(object: &'a Value, name: &'a str) -> Self {
        Self {
            above: None,
            step: Step::Field(name),
            value: object.get(name).unwrap_or(&ABSENT),
        }
    }

    /// Another value at the end of the path.
    pub(super) fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    pub(super) fn field(&'a self, name: &'a str) -> At<'a> {
        At {
            above: Some(self),
            step: Step::Field(name),
            value: self.value.get(name).unwrap_or(&ABSENT),
        }
    }

    pub(super) fn key(&'a self, key: &'a str) -> At<'a> {
        At {
            step: Step::Key(key),
            ..self.field(key)
        }
    }

    pub(super) fn index(&'a self, index: usize) -> At<'a> {
        At {
            above: Some(self),
            step: Step::Index(index),
            value: self.value.get(index).unwrap_or(&ABSENT),
        }
    }

    /// The items of a list.
    pub(super) fn items(&'a self) -> impl Iterator<Item = At<'a>> {
        (0..self.len()).map(|index| self.index(index))
    }

    /// The entries of a map, sorted.
    pub(super) fn entries(&'a self) -> impl Iterator<Item = (&'a str, At<'a>)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(move |(key, value)| {
            let step = Step::Key(key);
            let above = Some(self);
            (key.as_str(), At { above, step, value })
        })
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// The text here; empty where there is none.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// The text of a field.
    pub(super) fn text_of(&self, name: &str) -> &'a str {
        let member = self.value.get(name).and_then(Value::as_str);
        member.unwrap_or_default()
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(super) fn is_true(&self) -> bool {
        self.value.as_bool() == Some(true)
    }

    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether a field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some_and(|value| !value.is_null())
    }

    /// How many items or entries there are.
    pub(super) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn path(&self) -> String {
        self.to_string()
    }
}

/// The path, as Kubernetes writes it.
impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            fmt::Display::fmt(above, f)?;
        }
        match self.step {
            Step::Field(name) if self.above.is_some() => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::At;

    #[test]
    fn paths_are_written_as_kubernetes_does() {
        let object = json!({"spec": {"items": [{"map": {"a.b/c": 1}}]}});
        let spec = At::top(&object, "spec");
        let items = spec.field("items");
        let item = items.index(0);
        let map = item.field("map");
        assert_eq!(map.key("a.b/c").path(), "spec.items[0].map[a.b/c]");
        assert_eq!(map.key("a.b/c").number(), Some(1));
        assert!(!item.field("none").is_set());
    }
}
