use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::age::since;
use crate::kinds::label_selector;

/// What stands in a cell, by a JSON pointer into the object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// Text, or nothing.
    Text(&'static str),
    /// Text, or what is said in its place.
    TextOr(&'static str, &'static str),
    /// A whole number, 0 where it is absent.
    Number(&'static str),
    /// Yes or no, and which where it is absent.
    Flag(&'static str, bool),
    /// How many entries a list or map has.
    Count(&'static str),
    /// How long ago.
    Since(&'static str),
    /// The labels that a selector asks for.
    Selector(&'static str),
    /// Labels, or `<none>`.
    Labels(&'static str),
    /// The names of containers.
    Names(&'static str),
    /// The images of containers.
    Images(&'static str),
    /// Texts with commas between them.
    Joined(&'static str),
    /// All else.
    Made(fn(&Row<'_>) -> Value),
}

/// An object on its way into a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) object: &'a Value,
    pub(super) now: Timestamp,
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
            Self::Made(make) => make(row),
        }
    }
}

impl<'a> Row<'a> {
    pub(super) fn at(&self, path: &str) -> Option<&'a Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, path: &str) -> &'a str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn text_or(&self, path: &str, other: &'a str) -> &'a str {
        Some(self.text(path))
            .filter(|text| !text.is_empty())
            .unwrap_or(other)
    }

    /// A number or text as text, such as an IntOrString.
    pub(super) fn shown(&self, path: &str) -> Option<String> {
        self.at(path).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    pub(super) fn number(&self, path: &str) -> i64 {
        self.at(path).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn flag(&self, path: &str) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        self.at(path)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(super) fn map(&self, path: &str) -> Option<&'a Map<String, Value>> {
        self.at(path)?.as_object()
    }

    pub(super) fn count(&self, path: &str) -> usize {
        match self.at(path) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(members)) => members.len(),
            _ => 0,
        }
    }

    pub(super) fn since(&self, path: &str) -> String {
        since(self.at(path), self.now)
    }

    pub(super) fn texts(&self, path: &str) -> Vec<&'a str> {
        let items = self.list(path).iter();
        items.filter_map(Value::as_str).collect()
    }

    /// One field of each item of a list.
    pub(super) fn each(&self, path: &str, field: &str) -> Vec<&'a str> {
        let items = self.list(path).iter();
        items
            .map(|item| item.get(field).and_then(Value::as_str).unwrap_or_default())
            .collect()
    }

    pub(super) fn selector(&self, path: &str) -> String {
        let selector = label_selector(self.at(path).unwrap_or(&Value::Null));
        or_none(selector.map(|one| one.to_string()).unwrap_or_default())
    }

    pub(super) fn labels(&self, path: &str) -> String {
        let labels = self.map(path).into_iter().flatten();
        let labels: Vec<String> = labels
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        or_none(labels.join(","))
    }

    pub(super) fn is_terminating(&self) -> bool {
        self.at("/metadata/deletionTimestamp").is_some()
    }

    /// The condition of that type.
    pub(super) fn condition(&self, kind: &str) -> Option<&'a Value> {
        let mut conditions = self.list("/status/conditions").iter();
        conditions.find(|condition| condition["type"] == kind)
    }

    /// Whether the condition of that type is true.
    pub(super) fn holds(&self, kind: &str) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition["status"] == "True")
    }
}

pub(super) fn or_none(text: String) -> String {
    match text.is_empty() {
        true => "<none>".to_owned(),
        false => text,
    }
}

/// The first three of many, and how many more there are.
pub(super) fn first_three(all: &[String], none: &str) -> String {
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
