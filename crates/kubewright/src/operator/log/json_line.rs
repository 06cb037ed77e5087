//! One line of a JSON log.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use kubewright_core::Clock;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};
use tracing::Level;
use tracing::field::{Field, Visit};

use super::time::TimeFormat;

/// The first fields of every line, with the names of zap.
const HEAD: [&str; 4] = ["level", "ts", "logger", "msg"];

/// Returns a line that is not from an event.
pub(in crate::operator) fn json_line(level: Level, logger: &str, message: &str) -> Vec<u8> {
    let now = TimeFormat::default().write(Clock::system().now());
    Line::new(level, now, logger, json!(message)).to_bytes()
}

/// The fields of a span or an event, in their order.
#[derive(Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let existing = self.0.iter_mut().find(|(name, _)| *name == field.name());
        match existing {
            Some((_, existing)) => *existing = value,
            None => self.0.push((field.name(), value)),
        }
    }

    /// Removes a field and returns its value, or an empty text if there is none.
    pub(super) fn take(&mut self, name: &str) -> Value {
        match self.0.iter().position(|(field, _)| *field == name) {
            Some(index) => self.0.remove(index).1,
            None => json!(""),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, json!(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.set(field, json!(value.to_string()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, json!(format!("{value:?}")));
    }
}

/// A line with unique keys: an inner field replaces an outer one.
pub(super) struct Line(Vec<(Cow<'static, str>, Value)>);

impl Line {
    pub(super) fn new(level: Level, time: Value, logger: &str, message: Value) -> Self {
        let level = json!(level.as_str().to_lowercase());
        let head = [level, time, json!(logger), message];
        let names = HEAD.map(Cow::Borrowed);
        Self(names.into_iter().zip(head).collect())
    }

    pub(super) fn add(&mut self, fields: &Fields) {
        for (name, value) in &fields.0 {
            // A field must not replace one of the first fields.
            let name = if HEAD.contains(name) {
                Cow::Owned(format!("{name}_"))
            } else {
                Cow::Borrowed(*name)
            };
            match self.0.iter_mut().find(|(field, _)| *field == name) {
                Some((_, existing)) => *existing = value.clone(),
                None => self.0.push((name, value.clone())),
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // This cannot fail: keys are text and values are JSON already.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
