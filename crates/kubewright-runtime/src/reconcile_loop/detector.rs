//! Follows the keys of a controller and finds those whose reconcile triggers itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use kubewright_core::ObjectKey;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::changed_fields::changed_fields;
use super::own_write::OwnWrite;
use super::report::{LoopKind, ReconcileLoop};
use super::streak::{Cause, Streak};

/// The number of idle keys that are followed.
const MAX_KEYS: usize = 4096;
/// The number of writes that are remembered because their events can still arrive.
const MAX_WRITES: usize = 1024;

/// What enqueued a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger<'a> {
    /// An object changed and has this revision.
    Changed(u64),
    /// The object with this uid was deleted.
    Deleted(&'a str),
    /// Anything else.
    Other,
}

/// Follows the keys of one controller.
pub(crate) struct LoopDetector {
    controller: Arc<str>,
    state: Mutex<DetectorState>,
    found: watch::Sender<Option<Arc<ReconcileLoop>>>,
}

#[derive(Default)]
struct DetectorState {
    /// The revisions that runs have written, with the key of the run.
    revisions: BTreeMap<u64, ObjectKey>,
    /// The uids of objects that runs have deleted, the newest last.
    deleted: Vec<(String, ObjectKey)>,
    /// The keys that are being processed, or that their own writes enqueued.
    keys: BTreeMap<ObjectKey, Streak>,
}

impl LoopDetector {
    pub(crate) fn new(controller: Arc<str>) -> Self {
        Self {
            controller,
            state: Mutex::default(),
            found: watch::Sender::new(None),
        }
    }

    /// The last loop that was found.
    pub(crate) fn found(&self) -> watch::Receiver<Option<Arc<ReconcileLoop>>> {
        self.found.subscribe()
    }

    /// Records that a key was enqueued.
    pub(crate) fn note_trigger(&self, key: &ObjectKey, trigger: Trigger<'_>) {
        let mut state = self.state.lock();
        let DetectorState {
            revisions,
            deleted,
            keys,
        } = &mut *state;
        let Some(streak) = keys.get_mut(key) else {
            return;
        };
        let is_own = |writer: Option<&ObjectKey>| writer == Some(key);
        match trigger {
            Trigger::Changed(revision) if is_own(revisions.get(&revision)) => {
                streak.note_cause(Cause::OwnWrites);
            }
            Trigger::Changed(revision) => {
                streak.unknown.insert(revision);
            }
            Trigger::Deleted(uid) => {
                let writer = deleted.iter().find(|(deleted, _)| deleted == uid);
                let cause = if is_own(writer.map(|(_, key)| key)) {
                    Cause::OwnWrites
                } else {
                    Cause::Others
                };
                streak.note_cause(cause);
            }
            Trigger::Other => streak.note_cause(Cause::Others),
        }
    }

    /// Records that a run of a key begins.
    pub(super) fn begin(&self, key: &ObjectKey) {
        let mut state = self.state.lock();
        if state.keys.len() >= MAX_KEYS {
            let is_followed = |streak: &Streak| streak.is_running || streak.runs > 0;
            state.keys.retain(|_, streak| is_followed(streak));
        }
        let streak = state.keys.entry(key.clone()).or_default();
        *streak = streak.next(Instant::now());
    }

    /// Records a write of a run of the key.
    pub(super) fn note_write(&self, key: &ObjectKey, write: OwnWrite) {
        let mut state = self.state.lock();
        let mut has_changed = write.deleted.is_some();
        if let Some(revision) = write.revision {
            // The response to a write that changes nothing has the revision of the write before.
            has_changed |= state.revisions.insert(revision, key.clone()).is_none();
            if state.revisions.len() > MAX_WRITES {
                state.revisions.pop_first();
            }
        }
        if let Some(uid) = write.deleted {
            state.deleted.push((uid, key.clone()));
            if state.deleted.len() > MAX_WRITES {
                state.deleted.remove(0);
            }
        }
        let Some(streak) = state.keys.get_mut(key) else {
            return;
        };
        streak.writes += u32::from(has_changed);
        if write
            .revision
            .is_some_and(|revision| streak.unknown.remove(&revision))
        {
            streak.note_cause(Cause::OwnWrites);
        }
        // States are kept only for the last runs before a report.
        if streak.loop_kind(2).is_some() {
            let [_, last] = streak.states.remove(&write.what).unwrap_or_default();
            streak
                .states
                .insert(write.what, [last, Some(write.response)]);
        }
    }

    /// Records the end of a run and reports a loop. `runs_again` is set where the run requeues its
    /// key without a delay. Returns the number of its writes that changed something.
    pub(crate) fn end(&self, key: &ObjectKey, runs_again: bool) -> u32 {
        let mut state = self.state.lock();
        let Some(streak) = state.keys.get_mut(key) else {
            return 0;
        };
        streak.is_running = false;
        if runs_again {
            streak.note_cause(Cause::OwnWrites);
        }
        let writes = streak.writes;
        if streak.is_idle() {
            state.keys.remove(key);
            return writes;
        }
        let found = streak.loop_kind(0).filter(|_| !streak.is_reported);
        if let Some(kind) = found {
            streak.is_reported = true;
            let report = ReconcileLoop {
                controller: Arc::clone(&self.controller),
                object: key.clone(),
                kind,
                runs: match kind {
                    LoopKind::OwnWrites => streak.runs,
                    LoopKind::StoppedClock => streak.runs_at_once,
                },
                writes: describe_writes(&streak.states, runs_again),
            };
            drop(state);
            // `kubewright dev` enables this target and reads the line.
            tracing::warn!(target: "kubewright::reconcile_loop", "{report}");
            self.found.send_replace(Some(Arc::new(report)));
        }
        writes
    }
}

/// The writes of the last run, each with the fields that changed since the run before.
fn describe_writes(states: &BTreeMap<String, [Option<Bytes>; 2]>, runs_again: bool) -> Vec<String> {
    let parse =
        |bytes: &Option<Bytes>| -> Option<Value> { serde_json::from_slice(bytes.as_ref()?).ok() };
    let mut writes: Vec<String> = states
        .iter()
        .map(
            |(what, [before, after])| match (parse(before), parse(after)) {
                (Some(before), Some(after)) => {
                    let fields = changed_fields(&before, &after);
                    if fields.is_empty() {
                        format!("{what} (as written before: something changes it in between)")
                    } else {
                        format!("{what} ({})", fields.join(", "))
                    }
                }
                _ => what.clone(),
            },
        )
        .collect();
    if runs_again {
        writes.push("none needed, the run requeues its key without a delay".to_owned());
    }
    writes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use kubewright_core::ObjectKey;
    use serde_json::json;

    use super::{LoopDetector, LoopKind, MAX_KEYS, OwnWrite, ReconcileLoop, Trigger};
    use crate::reconcile_loop::streak::{MAX_RUNS, MAX_RUNS_AT_ONCE};

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("web", name)
    }

    /// A write of a ConfigMap that gets this revision.
    fn write(revision: u64) -> OwnWrite {
        let body = json!({
            "metadata": {"resourceVersion": revision.to_string()},
            "data": {"now": revision.to_string(), "same": "s"},
        });
        OwnWrite::read("PATCH /x".to_owned(), &Bytes::from(body.to_string()))
    }

    /// Runs of the key `a`.
    struct Runs {
        detector: LoopDetector,
    }

    impl Runs {
        fn new() -> Self {
            Self {
                detector: LoopDetector::new("pots".into()),
            }
        }

        /// A run that writes, with the event of its write before or after its end.
        fn run(&self, revision: u64, is_event_early: bool) {
            let (detector, a) = (&self.detector, key("a"));
            detector.begin(&a);
            if is_event_early {
                detector.note_trigger(&a, Trigger::Changed(revision));
            }
            detector.note_write(&a, write(revision));
            detector.end(&a, false);
            if !is_event_early {
                detector.note_trigger(&a, Trigger::Changed(revision));
            }
        }

        fn run_without_writes(&self, runs_again: bool) {
            self.detector.begin(&key("a"));
            self.detector.end(&key("a"), runs_again);
        }

        fn enqueue(&self, trigger: Trigger<'_>) {
            self.detector.note_trigger(&key("a"), trigger);
        }

        fn found(&self) -> Option<Arc<ReconcileLoop>> {
            self.detector.found().borrow().clone()
        }
    }

    #[test]
    fn key_enqueued_only_by_its_own_writes_is_reported_with_the_changed_fields() {
        for is_event_early in [false, true] {
            let runs = Runs::new();
            for revision in 1..=u64::from(MAX_RUNS) {
                runs.run(revision, is_event_early);
            }
            assert_eq!(runs.found(), None);
            runs.run(u64::from(MAX_RUNS) + 1, is_event_early);
            let found = runs.found().unwrap();
            assert_eq!((found.runs, &found.object), (MAX_RUNS, &key("a")));
            assert_eq!(found.writes, [r#"PATCH /x (data.now: "100" -> "101")"#]);
        }
    }

    #[test]
    fn event_of_another_writer_restarts_the_count() {
        let others = [
            Trigger::Changed(1_000_000),
            Trigger::Deleted("u"),
            Trigger::Other,
        ];
        for other in others {
            let runs = Runs::new();
            for revision in 1..=u64::from(5 * MAX_RUNS) {
                runs.run(revision, false);
                if revision % 50 == 0 {
                    runs.enqueue(other);
                }
            }
            assert_eq!(runs.found(), None, "{other:?}");
        }
    }

    #[test]
    fn writes_of_one_key_that_enqueue_another_key_are_not_a_loop() {
        let runs = Runs::new();
        let (detector, a, b) = (&runs.detector, key("a"), key("b"));
        for revision in 1..=u64::from(5 * MAX_RUNS) {
            detector.begin(&a);
            detector.note_write(&a, write(revision));
            detector.end(&a, false);
            detector.begin(&b);
            detector.note_trigger(&b, Trigger::Changed(revision));
            detector.note_write(&b, write(1_000_000 + revision));
            detector.end(&b, false);
        }
        assert_eq!(runs.found(), None);
    }

    #[test]
    fn deletes_that_enqueue_their_own_key_are_a_loop() {
        let runs = Runs::new();
        let (detector, a) = (&runs.detector, key("a"));
        for _ in 0..=MAX_RUNS {
            detector.begin(&a);
            let status = json!({"kind": "Status", "details": {"uid": "u"}}).to_string();
            let delete = OwnWrite::read("DELETE /x".to_owned(), &Bytes::from(status));
            detector.note_write(&a, delete);
            detector.end(&a, false);
            detector.note_trigger(&a, Trigger::Deleted("u"));
        }
        assert!(runs.found().is_some());
    }

    #[test]
    fn requeues_without_a_delay_are_a_loop() {
        let runs = Runs::new();
        for _ in 0..=MAX_RUNS {
            runs.run_without_writes(true);
        }
        assert!(runs.found().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn key_enqueued_by_others_is_reported_when_no_time_passes() {
        let runs = Runs::new();
        runs.run(1, false);
        tokio::time::advance(Duration::from_nanos(1)).await;
        for revision in 2..2 + u64::from(MAX_RUNS_AT_ONCE) / 2 {
            runs.run(revision, false);
            runs.enqueue(Trigger::Other);
            runs.run_without_writes(false);
        }
        let found = runs.found().unwrap();
        assert_eq!(found.kind, LoopKind::StoppedClock);
        assert_eq!(found.runs, MAX_RUNS_AT_ONCE);
    }

    #[tokio::test(start_paused = true)]
    async fn key_enqueued_by_others_is_not_reported_when_time_passes() {
        let runs = Runs::new();
        for revision in 1..=u64::from(MAX_RUNS_AT_ONCE) {
            runs.run(revision, false);
            runs.enqueue(Trigger::Other);
            tokio::time::advance(Duration::from_nanos(1)).await;
        }
        assert_eq!(runs.found(), None);
    }

    #[test]
    fn writes_that_change_something_are_counted() {
        let detector = LoopDetector::new("pots".into());
        for (revisions, expected) in [([1, 2], 2), ([2, 3], 1), ([3, 3], 0)] {
            detector.begin(&key("a"));
            for revision in revisions {
                detector.note_write(&key("a"), write(revision));
            }
            assert_eq!(detector.end(&key("a"), false), expected);
        }
    }

    #[test]
    fn idle_keys_are_forgotten() {
        let runs = Runs::new();
        let followed = || runs.detector.state.lock().keys.len();
        runs.run(1, false);
        runs.run_without_writes(false);
        assert_eq!(followed(), 0);
        // A key whose events are filtered out has no second run.
        for number in 0..3 * MAX_KEYS {
            let other = key(&number.to_string());
            let revision = u64::try_from(number).unwrap() + 10;
            runs.detector.begin(&other);
            runs.detector.note_write(&other, write(revision));
            runs.detector.end(&other, false);
        }
        assert!(followed() <= MAX_KEYS);
    }
}
