use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::recorder::Recorded;
use super::{EventKind, Regarding, Reporter};

/// How long after its last event a series is over, and how often one that goes on is written
/// (tools/events/event_broadcaster.go of client-go).
const OVER: Duration = Duration::from_secs(6 * 60);
const REFRESH: Duration = Duration::from_secs(30 * 60);

/// A Kubernetes name has at most 253 characters, 18 of which tell the events of one object apart.
const LONGEST_PREFIX: usize = 235;

/// What makes two events the same: all but their note and time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeriesKey {
    kind: EventKind,
    reason: String,
    action: String,
    regarding: Regarding,
    related: Option<Regarding>,
}

/// The events that may still be repeated.
#[derive(Debug, Default)]
pub(super) struct SeriesBook {
    open: BTreeMap<SeriesKey, Series>,
    /// Tells apart the names of events of the same time.
    number: u64,
}

/// An event, and how often it came.
#[derive(Clone, Debug)]
pub(super) struct Series {
    namespace: String,
    name: String,
    body: Value,
    last: Timestamp,
    count: u32,
    /// What of it was written last: how many, and when.
    written: (u32, Timestamp),
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Write {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) body: Value,
    /// Of a series that is there: only this part is sent.
    pub(super) series: Option<Value>,
}

impl SeriesBook {
    /// Counts an event where the same came before; says what is then to be written. `Err` when it
    /// is new.
    pub(super) fn repeat(&mut self, recorded: &Recorded) -> Result<Option<Write>, Box<SeriesKey>> {
        let key = SeriesKey::of(recorded);
        let Some(series) = self.open.get_mut(&key) else {
            return Err(Box::new(key));
        };
        series.count += 1;
        series.last = recorded.time;
        // The second tells that there is a series; the rest is written now and then.
        Ok((series.count == 2).then(|| series.write(recorded.time)))
    }

    /// Notes an event that is new.
    pub(super) fn begin(
        &mut self,
        key: SeriesKey,
        recorded: Recorded,
        reporter: &Reporter,
    ) -> Write {
        let Recorded {
            regarding,
            event,
            time,
        } = recorded;
        self.number += 1;
        let suffix = time.as_nanosecond().wrapping_add(i128::from(self.number));
        let prefix: String = regarding.name.chars().take(LONGEST_PREFIX).collect();
        let name = format!("{}.{suffix:x}", prefix.trim_end_matches(['.', '-']));
        let namespace = regarding.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| "default".to_owned());
        let mut body = json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": micro_time(time),
            "reportingController": reporter.controller,
            "reportingInstance": reporter.instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": regarding,
            "note": event.note,
            "type": event.kind,
        });
        if let Some(related) = &event.related {
            body["related"] = json!(related);
        }
        let series = Series {
            namespace,
            name,
            body,
            last: time,
            count: 1,
            written: (1, time),
        };
        let write = series.as_new();
        self.open.insert(key, series);
        write
    }

    /// What is to be written of series that are over, which are then forgotten, or that go on for
    /// long.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<Write> {
        let mut writes = Vec::new();
        self.open.retain(|_, series| {
            let is_over = elapsed(series.last, now) >= OVER;
            let is_old = elapsed(series.written.1, now) >= REFRESH && series.count > 1;
            let has_news = series.count > series.written.0;
            if is_over && has_news || is_old {
                writes.push(series.write(now));
            }
            !is_over
        });
        writes
    }

    /// How long until [`due`](Self::due) has something to do; none while nothing is open.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Duration> {
        let left = self.open.values().map(|series| {
            let until_over = OVER.saturating_sub(elapsed(series.last, now));
            match series.count {
                1 => until_over,
                _ => until_over.min(REFRESH.saturating_sub(elapsed(series.written.1, now))),
            }
        });
        left.min()
    }
}

impl SeriesKey {
    fn of(recorded: &Recorded) -> Self {
        let event = &recorded.event;
        Self {
            kind: event.kind,
            reason: event.reason.clone(),
            action: event.action.clone(),
            regarding: recorded.regarding.clone(),
            related: event.related.clone(),
        }
    }
}

impl Series {
    fn as_new(&self) -> Write {
        Write {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            body: self.body.clone(),
            series: None,
        }
    }

    fn write(&mut self, now: Timestamp) -> Write {
        self.written = (self.count, now);
        let series = json!({"count": self.count, "lastObservedTime": micro_time(self.last)});
        let mut body = self.body.clone();
        body["series"] = series.clone();
        Write {
            body,
            series: Some(series),
            ..self.as_new()
        }
    }
}

fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

fn micro_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kubewright_core::{Kind, ObjectKey};
    use serde_json::json;

    use super::{Recorded, SeriesBook};
    use crate::events::{Event, Regarding, Reporter};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + seconds).unwrap()
    }

    fn recorded(note: &str, seconds: i64) -> Recorded {
        let key = ObjectKey::new(Some("shop"), "web");
        Recorded {
            regarding: Regarding::new(&Kind::new("ex.io", "v1", "Set"), &key, "7"),
            event: Event::warning("FailedCreate", note).action("Create"),
            time: at(seconds),
        }
    }

    fn begin(book: &mut SeriesBook, seconds: i64) -> super::Write {
        let first = recorded("no room", seconds);
        let key = *book.repeat(&first).unwrap_err();
        let reporter = Reporter {
            controller: "sets".to_owned(),
            instance: "sets-1".to_owned(),
        };
        book.begin(key, first, &reporter)
    }

    #[test]
    fn the_first_event_is_written_as_it_is() {
        let write = begin(&mut SeriesBook::default(), 0);
        assert_eq!(write.series, None);
        assert!(write.name.starts_with("web.1886"), "{}", write.name);
        assert_eq!(write.body["eventTime"], "2026-01-01T00:00:00.000000Z");
        assert_eq!(
            write.body["regarding"],
            json!({"apiVersion": "ex.io/v1", "kind": "Set", "namespace": "shop", "name": "web", "uid": "7"})
        );
        assert_eq!(
            (&write.body["type"], &write.body["note"]),
            (&json!("Warning"), &json!("no room"))
        );
    }

    #[test]
    fn repetitions_are_counted_and_the_count_is_written_when_they_end() {
        let mut book = SeriesBook::default();
        begin(&mut book, 0);
        let second = book.repeat(&recorded("still no room", 1)).unwrap().unwrap();
        assert_eq!(second.series.unwrap()["count"], 2);
        for seconds in 2..10 {
            assert_eq!(book.repeat(&recorded("no room", seconds)), Ok(None));
        }
        assert_eq!(book.due(at(300)), []);
        let last = book.due(at(369));
        assert_eq!(last.len(), 1);
        assert_eq!(
            last[0].series,
            Some(json!({"count": 10, "lastObservedTime": "2026-01-01T00:00:09.000000Z"}))
        );
        assert!(book.repeat(&recorded("no room", 370)).is_err(), "a new one");
    }

    #[test]
    fn a_single_event_is_forgotten_without_a_word() {
        let mut book = SeriesBook::default();
        begin(&mut book, 0);
        assert_eq!(book.next_due(at(60)).unwrap().as_secs(), 300);
        assert_eq!(book.due(at(360)), []);
        assert_eq!(book.next_due(at(360)), None);
    }
}
