//! Folds repeated events into series.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::recorded::Recorded;
use super::{EventKind, Regarding, Reporter};

/// The time after its last event at which a series ends, and the interval at which a series that
/// continues is written (tools/events/event_broadcaster.go of client-go).
const SERIES_TIMEOUT: Duration = Duration::from_secs(6 * 60);
const REFRESH_INTERVAL: Duration = Duration::from_secs(30 * 60);

/// A Kubernetes name has at most 253 characters, of which the suffix of an event needs 18.
const MAX_PREFIX_LEN: usize = 235;

/// The fields that are equal in all events of a series: all but note and time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeriesKey {
    kind: EventKind,
    reason: String,
    action: String,
    regarding: Regarding,
    related: Option<Regarding>,
}

/// The events that can still be repeated.
#[derive(Debug, Default)]
pub(super) struct SeriesMap {
    open: BTreeMap<SeriesKey, Series>,
    /// Makes the names of events with the same time unique.
    number: u64,
}

/// An event and the number of its repetitions.
#[derive(Clone, Debug)]
pub(super) struct Series {
    namespace: String,
    name: String,
    body: Value,
    last: Timestamp,
    count: u32,
    written_count: u32,
    written_at: Timestamp,
}

/// A request that writes an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Write {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) body: Value,
    /// The changed part, if the event exists: only this part is sent.
    pub(super) series: Option<Value>,
}

impl SeriesMap {
    /// Counts the event if it repeats an earlier one and returns the write that is due, if any.
    /// `Err` is the key of a new event.
    pub(super) fn repeat(&mut self, recorded: &Recorded) -> Result<Option<Write>, Box<SeriesKey>> {
        let key = SeriesKey::of(recorded);
        let Some(series) = self.open.get_mut(&key) else {
            return Err(Box::new(key));
        };
        series.count += 1;
        series.last = recorded.time;
        // The second event starts the series; later ones are written at intervals.
        Ok((series.count == 2).then(|| series.write(recorded.time)))
    }

    /// Adds a new event.
    pub(super) fn insert(
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
        let prefix: String = regarding.name.chars().take(MAX_PREFIX_LEN).collect();
        let name = format!("{}.{suffix:x}", prefix.trim_end_matches(['.', '-']));
        let namespace = regarding
            .namespace
            .clone()
            .unwrap_or_else(|| "default".to_owned());
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
            written_count: 1,
            written_at: time,
        };
        let write = series.create();
        self.open.insert(key, series);
        write
    }

    /// Removes the series that have ended, and returns the writes that are due for them and for
    /// series that continue.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<Write> {
        let mut writes = Vec::new();
        self.open.retain(|_, series| {
            let is_over = elapsed(series.last, now) >= SERIES_TIMEOUT;
            let is_old = elapsed(series.written_at, now) >= REFRESH_INTERVAL && series.count > 1;
            let has_unwritten = series.count > series.written_count;
            if is_over && has_unwritten || is_old {
                writes.push(series.write(now));
            }
            !is_over
        });
        writes
    }

    /// The time until the next write is [`due`](Self::due); `None` while there are no events.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Duration> {
        let delays = self.open.values().map(|series| {
            let until_over = SERIES_TIMEOUT.saturating_sub(elapsed(series.last, now));
            match series.count {
                1 => until_over,
                _ => {
                    until_over.min(REFRESH_INTERVAL.saturating_sub(elapsed(series.written_at, now)))
                }
            }
        });
        delays.min()
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
    fn create(&self) -> Write {
        Write {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            body: self.body.clone(),
            series: None,
        }
    }

    fn write(&mut self, now: Timestamp) -> Write {
        self.written_count = self.count;
        self.written_at = now;
        let series = json!({"count": self.count, "lastObservedTime": micro_time(self.last)});
        let mut body = self.body.clone();
        body["series"] = series.clone();
        Write {
            body,
            series: Some(series),
            ..self.create()
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

    use super::{Recorded, SeriesMap};
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

    fn insert(map: &mut SeriesMap, seconds: i64) -> super::Write {
        let first = recorded("no room", seconds);
        let key = *map.repeat(&first).unwrap_err();
        let reporter = Reporter {
            controller: "sets".to_owned(),
            instance: "sets-1".to_owned(),
        };
        map.insert(key, first, &reporter)
    }

    #[test]
    fn first_event_is_written_without_a_series() {
        let write = insert(&mut SeriesMap::default(), 0);
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
    fn repetitions_are_counted_and_the_count_is_written_when_the_series_ends() {
        let mut map = SeriesMap::default();
        insert(&mut map, 0);
        let second = map.repeat(&recorded("still no room", 1)).unwrap().unwrap();
        assert_eq!(second.series.unwrap()["count"], 2);
        for seconds in 2..10 {
            assert_eq!(map.repeat(&recorded("no room", seconds)), Ok(None));
        }
        assert_eq!(map.due(at(300)), []);
        let last = map.due(at(369));
        assert_eq!(last.len(), 1);
        assert_eq!(
            last[0].series,
            Some(json!({"count": 10, "lastObservedTime": "2026-01-01T00:00:09.000000Z"}))
        );
        assert!(
            map.repeat(&recorded("no room", 370)).is_err(),
            "a new event"
        );
    }

    #[test]
    fn single_event_is_removed_without_another_write() {
        let mut map = SeriesMap::default();
        insert(&mut map, 0);
        assert_eq!(map.next_due(at(60)).unwrap().as_secs(), 300);
        assert_eq!(map.due(at(360)), []);
        assert_eq!(map.next_due(at(360)), None);
    }
}
