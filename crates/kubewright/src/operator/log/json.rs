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
use super::time::TimeForm;

/// What every line begins with, by the names that zap gives it.
const HEAD: [&str; 4] = ["level", "ts", "logger", "msg"];

/// One JSON object for each event: level, time, where in the program, the message, and then the
/// fields of the spans around it, from the outside in, and its own.
pub(super) struct JsonLines {
    writer: LogWriter,
    clock: Clock,
    time: TimeForm,
}

/// A line that no event stands behind.
pub(in crate::operator) fn json_line(level: Level, logger: &str, message: &str) -> Vec<u8> {
    let now = TimeForm::default().write(Clock::system().now());
    Line::new(level, now, logger, json!(message)).to_bytes()
}

impl JsonLines {
    pub(super) fn new(writer: LogWriter, time: TimeForm) -> Self {
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
        // It takes a line or drops and counts it.
        self.writer
            .clone()
            .write_all(&line.to_bytes())
            .unwrap_or_default();
    }
}

/// The fields of a span or an event, in their order.
#[derive(Default)]
struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let former = self.0.iter_mut().find(|(name, _)| *name == field.name());
        match former {
            Some((_, former)) => *former = value,
            None => self.0.push((field.name(), value)),
        }
    }

    /// Empty text where there is none.
    fn take(&mut self, name: &str) -> Value {
        match self.0.iter().position(|(one, _)| *one == name) {
            Some(place) => self.0.remove(place).1,
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

/// A line on its way: no key comes twice in it, and the inner field hides the outer one.
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
            // A field that is named as the head must not take its place.
            let name = match HEAD.contains(name) {
                true => Cow::Owned(format!("{name}_")),
                false => Cow::Borrowed(*name),
            };
            match self.0.iter_mut().find(|(one, _)| *one == name) {
                Some((_, former)) => *former = value.clone(),
                None => self.0.push((name, value.clone())),
            }
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        // Keys are text and values are JSON already: it cannot fail.
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
    use super::{JsonLines, TimeForm};

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

    /// What is logged meanwhile, without the times.
    fn logged(work: impl FnOnce()) -> Vec<Value> {
        let text = Text::default();
        let (writer, end) = LogWriter::new(LogFormat::Json, text.clone()).unwrap();
        let lines = JsonLines::new(writer, TimeForm::Nano);
        let subscriber = tracing_subscriber::registry().with(lines);
        tracing::subscriber::with_default(subscriber, work);
        drop(end);
        let text = String::from_utf8(text.0.lock().clone()).unwrap();
        let lines = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let time = line.as_object_mut().unwrap().remove("ts");
            assert!(time.is_some_and(|time| time.is_i64()));
            line
        });
        lines.collect()
    }

    #[test]
    fn a_line_has_its_fields_and_those_of_the_spans_around_it() {
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
    fn an_event_without_a_message_has_an_empty_one() {
        let lines = logged(|| tracing::warn!(target: "here", why = %"x"));
        let expected = json!({"level": "warn", "logger": "here", "msg": "", "why": "x"});
        assert_eq!(lines, [expected]);
    }
}
