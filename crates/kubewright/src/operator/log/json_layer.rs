//! The layer that writes a JSON log.

use std::io::Write as _;

use kubewright_core::Clock;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::json_line::{Fields, Line};
use super::time::TimeFormat;
use super::writer::LogWriter;

/// Writes one JSON object per event: level, time, target and message, then the fields of its spans,
/// the outermost first, and its own fields.
pub(super) struct JsonLines {
    writer: LogWriter,
    clock: Clock,
    time: TimeFormat,
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
