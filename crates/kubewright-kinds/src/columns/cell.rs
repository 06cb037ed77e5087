//! The value of a cell.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::age::since;
use crate::json::text;
use crate::label_selector::label_selector;

/// How the value of a cell follows from the object. Paths are JSON pointers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// A string; empty when it is absent.
    Text(&'static str),
    /// A string, or the second one when it is absent or empty.
    TextOr(&'static str, &'static str),
    /// An integer; 0 when it is absent.
    Number(&'static str),
    /// A boolean, or the second one when it is absent.
    Flag(&'static str, bool),
    /// The number of entries of a list or map.
    Count(&'static str),
    /// The time since a timestamp.
    Since(&'static str),
    /// A LabelSelector, or `<none>`.
    Selector(&'static str),
    /// Labels, or `<none>`.
    Labels(&'static str),
    /// The names of containers.
    Names(&'static str),
    /// The images of containers.
    Images(&'static str),
    /// Strings separated by commas.
    Joined(&'static str),
    /// Anything else.
    Computed(fn(&Row<'_>) -> Value),
}

/// An object that becomes a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The object.
    pub object: &'a Value,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

impl Cell {
    pub(super) fn value(&self, row: &Row<'_>) -> Value {
        match self {
            Self::Text(path) => json!(row.text(path)),
            Self::TextOr(path, other) => json!(row.text_or(path, other)),
            Self::Number(path) => json!(row.number(path)),
            Self::Flag(path, other) => json!(row.flag(path).unwrap_or(*other)),
            Self::Count(path) => json!(row.count(path)),
            Self::Since(path) => json!(row.since(path)),
            Self::Selector(path) => json!(row.selector(path)),
            Self::Labels(path) => json!(row.labels(path)),
            Self::Names(path) => json!(row.each(path, "name").join(",")),
            Self::Images(path) => json!(row.each(path, "image").join(",")),
            Self::Joined(path) => json!(row.texts(path).join(",")),
            Self::Computed(compute) => compute(row),
        }
    }
}

impl<'a> Row<'a> {
    pub(crate) fn at(&self, path: &str) -> Option<&'a Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, path: &str) -> &'a str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn text_or(&self, path: &str, other: &'a str) -> &'a str {
        Some(self.text(path))
            .filter(|text| !text.is_empty())
            .unwrap_or(other)
    }

    /// A number or string as a string, such as an IntOrString.
    pub(crate) fn shown(&self, path: &str) -> Option<String> {
        self.at(path).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    pub(crate) fn number(&self, path: &str) -> i64 {
        self.at(path).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(crate) fn flag(&self, path: &str) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }

    pub(crate) fn list(&self, path: &str) -> &'a [Value] {
        self.at(path)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(crate) fn map(&self, path: &str) -> Option<&'a Map<String, Value>> {
        self.at(path)?.as_object()
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        match self.at(path) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(members)) => members.len(),
            _ => 0,
        }
    }

    pub(crate) fn since(&self, path: &str) -> String {
        since(self.at(path), self.now)
    }

    pub(crate) fn texts(&self, path: &str) -> Vec<&'a str> {
        let items = self.list(path).iter();
        items.filter_map(Value::as_str).collect()
    }

    /// A field of each item of a list.
    pub(crate) fn each(&self, path: &str, field: &str) -> Vec<&'a str> {
        let items = self.list(path).iter();
        items.map(|item| text(&item[field])).collect()
    }

    pub(crate) fn selector(&self, path: &str) -> String {
        let selector = label_selector(self.at(path).unwrap_or(&Value::Null));
        or_none(selector.map_or_else(String::new, |selector| selector.to_string()))
    }

    pub(crate) fn labels(&self, path: &str) -> String {
        let labels = self.map(path).into_iter().flatten();
        let pairs = labels.map(|(key, value)| format!("{key}={}", text(value)));
        or_none(pairs.collect::<Vec<_>>().join(","))
    }

    pub(crate) fn is_terminating(&self) -> bool {
        self.at("/metadata/deletionTimestamp").is_some()
    }

    /// The condition of that type.
    pub(crate) fn condition(&self, kind: &str) -> Option<&'a Value> {
        let mut conditions = self.list("/status/conditions").iter();
        conditions.find(|condition| condition["type"] == kind)
    }

    /// Whether the condition of that type is true.
    pub(crate) fn holds(&self, kind: &str) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition["status"] == "True")
    }
}

/// The text, or `<none>` when it is empty.
pub(crate) fn or_none(text: String) -> String {
    if text.is_empty() {
        "<none>".to_owned()
    } else {
        text
    }
}

/// The first three values and the number of the others; `none` when there are none.
pub(crate) fn first_three(all: &[String], none: &str) -> String {
    const SHOWN: usize = 3;
    let text = all
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(",");
    match all.len() {
        0 => none.to_owned(),
        1..=SHOWN => text,
        more => format!("{text} + {} more...", more - SHOWN),
    }
}
