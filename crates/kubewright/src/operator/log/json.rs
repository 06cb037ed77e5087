//! The JSON format of the log.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io::Write as _;

use kubewright_core::Clock;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::LogWriter;
use super::time::TimeFormat;

/// The first fields of every line, with the names of zap.
const HEAD: [&str; 4] = ["level", "ts", "logger", "msg"];

/// Writes one JSON object per event: level, time, target and message, then the fields of its spans,
/// the outermost first, and its own fields.
pub(super) struct JsonLines {
    writer: LogWriter,
    clock: Clock,
    time: TimeFormat,
}

/// Returns a line that is not from an event.
pub(in crate::operator) fn json_line(level: Level, logger: &str, message: &str) -> Vec<u8> {
    let now = TimeFormat::default().write(Clock::system().now());
    Line::new(level, now, logger, json!(message)).to_bytes()
}

impl JsonLines {
    pub(super) fn new(writer: LogWriter, time: TimeFormat) -> Self {
        Self {
            writer,
            clock: Clock::system(),
            time,
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut own = Fields::default();
        event.record(&mut own);
        let metadata = event.metadata();
        let now = self.time.write(self.clock.now());
        let message = own.take("message");
        let mut line = Line::new(*metadata.level(), now, metadata.target(), message);
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(fields) = span.extensions().get::<Fields>() {
                line.add(fields);
            }
        }
        line.add(&own);
        // The writer never fails: it drops and counts lines that do not fit.
        self.writer.clone().write_all(&line.to_bytes()).ok();
    }
}

/// The fields of a span or an event, in their order.
#[derive(Default)]
struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let existing = self.0.iter_mut().find(|(name, _)| *name == field.name());
        match existing {
            Some((_, existing)) => *existing = value,
            None => self.0.push((field.name(), value)),
        }
    }

    /// Removes a field and returns its value, or an empty text if there is none.
    fn take(&mut self, name: &str) -> Value {
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
struct Line(Vec<(Cow<'static, str>, Value)>);

impl Line {
    fn new(level: Level, time: Value, logger: &str, message: Value) -> Self {
        let level = json!(level.as_str().to_lowercase());
        let head = [level, time, json!(logger), message];
        let names = HEAD.map(Cow::Borrowed);
        Self(names.into_iter().zip(head).collect())
    }

    fn add(&mut self, fields: &Fields) {
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

    fn to_bytes(&self) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::super::{LogFormat, LogWriter};
    use super::{JsonLines, TimeFormat};

    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);

    impl Write for Text {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines that the function logs, without their times.
    fn logged(work: impl FnOnce()) -> Vec<Value> {
        let text = Text::default();
        let (writer, guard) = LogWriter::new(LogFormat::Json, text.clone()).unwrap();
        let lines = JsonLines::new(writer, TimeFormat::Nano);
        let subscriber = tracing_subscriber::registry().with(lines);
        tracing::subscriber::with_default(subscriber, work);
        drop(guard);
        let log = String::from_utf8(text.0.lock().clone()).unwrap();
        let lines = log.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let time = line.as_object_mut().unwrap().remove("ts");
            assert!(time.is_some_and(|time| time.is_i64()));
            line
        });
        lines.collect()
    }

    #[test]
    fn line_has_the_fields_of_the_event_and_its_spans() {
        let lines = logged(|| {
            let outer = tracing::info_span!("outer", kind = "Pod", name = "a", later = 1);
            let _outer = outer.enter();
            let inner = tracing::info_span!("inner", name = "b", level = 7);
            let _inner = inner.enter();
            outer.record("later", 2);
            tracing::info!(target: "here", failures = 3_u64, is_late = true, "a \"word\"\nmore");
        });
        let expected = json!({
            "level": "info", "logger": "here", "msg": "a \"word\"\nmore",
            "kind": "Pod", "name": "b", "later": 2, "level_": 7,
            "failures": 3, "is_late": true,
        });
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn event_without_a_message_has_an_empty_one() {
        let lines = logged(|| tracing::warn!(target: "here", why = %"x"));
        let expected = json!({"level": "warn", "logger": "here", "msg": "", "why": "x"});
        assert_eq!(lines, [expected]);
    }
}
