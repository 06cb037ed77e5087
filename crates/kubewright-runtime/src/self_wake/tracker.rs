//! Which keys of a controller wake themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use kubewright_core::ObjectKey;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::changed::changed_fields;
use super::report::{SelfWaking, WakeLoop};
use super::scope::Run;

/// How many runs in a row a key may cause by its own writes. A reconcile that goes on step by step
/// needs a few.
const MOST_RUNS: u32 = 100;
/// How many runs a key may have at one instant. Only in virtual time an instant lasts, and it lasts
/// as long as there is work: a loop through other controllers would never end there. A test that
/// makes thousands of objects at once needs thousands of runs.
const MOST_RUNS_AT_ONCE: u32 = 10_000;
/// How many keys are followed that are not being worked on.
const MOST_KEYS: usize = 4096;
/// How many writes are remembered whose events may still come.
const MOST_WRITES: usize = 1024;

/// What woke a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger<'a> {
    /// An object is at this revision now.
    Changed(u64),
    /// The object of this uid is gone.
    Gone(&'a str),
    /// Something else.
    Other,
}

/// Follows the keys of one controller.
pub(crate) struct Tracker {
    controller: Arc<str>,
    state: Mutex<State>,
    found: watch::Sender<Option<Arc<SelfWaking>>>,
}

#[derive(Default)]
struct State {
    /// The revisions that runs have written, and the key of the run.
    revisions: BTreeMap<u64, ObjectKey>,
    /// The uids of objects that runs have deleted; the newest is the last.
    deleted: Vec<(String, ObjectKey)>,
    /// The keys that are being worked on, or that their own writes woke.
    keys: BTreeMap<ObjectKey, Streak>,
}

/// What woke a key since its last run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    #[default]
    Nothing,
    OwnWrites,
    Others,
}

/// The runs of a key that follow each other.
#[derive(Default)]
struct Streak {
    is_running: bool,
    /// How many runs in a row its own writes have caused.
    runs: u32,
    /// When its last run began, and how many began at that instant.
    begun: Option<Instant>,
    runs_at_once: u32,
    cause: Cause,
    /// Revisions of events that are not known as its own yet: an event may come before the response
    /// to the write.
    unknown: BTreeSet<u64>,
    /// How many writes of the run have changed something.
    writes: u32,
    is_reported: bool,
    /// The last two states of each object that it writes.
    states: BTreeMap<String, [Option<Bytes>; 2]>,
}

impl Streak {
    /// What is left of it when a run begins.
    fn next(&mut self, now: Instant) -> Self {
        let is_by_itself = self.cause == Cause::OwnWrites && self.unknown.is_empty();
        let is_at_once = self.begun == Some(now);
        let mut next = Self {
            is_running: true,
            runs: if is_by_itself { self.runs + 1 } else { 0 },
            begun: Some(now),
            runs_at_once: if is_at_once { self.runs_at_once + 1 } else { 1 },
            ..Self::default()
        };
        if is_by_itself || is_at_once {
            next.is_reported = self.is_reported;
            next.states = std::mem::take(&mut self.states);
        }
        next
    }

    /// Whether it has gone on for `margin` runs less than is reported.
    fn loops(&self, margin: u32) -> Option<WakeLoop> {
        if self.runs + margin >= MOST_RUNS {
            return Some(WakeLoop::OwnWrites);
        }
        (self.runs_at_once + margin >= MOST_RUNS_AT_ONCE).then_some(WakeLoop::StoppedClock)
    }

    /// Whether nothing of it has to be remembered after a run that ends now.
    fn is_at_rest(&self) -> bool {
        let has_time_passed = self.begun != Some(Instant::now());
        self.writes == 0 && self.cause == Cause::Nothing && has_time_passed
    }

    /// Other causes count more than its own writes.
    fn woken_by(&mut self, cause: Cause) {
        self.cause = self.cause.max(cause);
    }
}

/// A write, and what the API server responded.
#[derive(Debug)]
pub(super) struct Write {
    what: String,
    revision: Option<u64>,
    deleted: Option<String>,
    response: Bytes,
}

impl Write {
    /// Reads the response to a write.
    pub(super) fn read(what: String, response: &Bytes) -> Self {
        let head: Head = serde_json::from_slice(response).unwrap_or_default();
        let is_delete = what.starts_with("DELETE");
        Self {
            revision: head
                .metadata
                .resource_version
                .and_then(|text| text.parse().ok()),
            deleted: match head.details {
                Some(details) => Some(details.uid),
                None => head.metadata.uid.filter(|_| is_delete),
            },
            response: response.clone(),
            what,
        }
    }
}

/// What is read of a response: that of an object, or that of a `Status`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    metadata: HeadMetadata,
    details: Option<HeadDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HeadMetadata {
    resource_version: Option<String>,
    uid: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadDetails {
    uid: String,
}

impl Tracker {
    pub(crate) fn new(controller: Arc<str>) -> Self {
        Self {
            controller,
            state: Mutex::default(),
            found: watch::Sender::new(None),
        }
    }

    /// The last key that was found to wake itself.
    pub(crate) fn found(&self) -> watch::Receiver<Option<Arc<SelfWaking>>> {
        self.found.subscribe()
    }

    /// A key was woken.
    pub(crate) fn note_trigger(&self, key: &ObjectKey, trigger: Trigger<'_>) {
        let mut state = self.state.lock();
        let State {
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
                streak.woken_by(Cause::OwnWrites);
            }
            Trigger::Changed(revision) => drop(streak.unknown.insert(revision)),
            Trigger::Gone(uid) => {
                let writer = deleted.iter().find(|(deleted, _)| deleted == uid);
                streak.woken_by(match is_own(writer.map(|(_, key)| key)) {
                    true => Cause::OwnWrites,
                    false => Cause::Others,
                });
            }
            Trigger::Other => streak.woken_by(Cause::Others),
        }
    }

    /// A run of a key begins.
    pub(crate) fn begin(self: &Arc<Self>, key: &ObjectKey) -> Run {
        let mut state = self.state.lock();
        if state.keys.len() >= MOST_KEYS {
            let is_followed = |streak: &Streak| streak.is_running || streak.runs > 0;
            state.keys.retain(|_, streak| is_followed(streak));
        }
        let streak = state.keys.entry(key.clone()).or_default();
        *streak = streak.next(Instant::now());
        Run {
            tracker: Arc::clone(self),
            key: key.clone(),
        }
    }

    pub(super) fn note_write(&self, key: &ObjectKey, write: Write) {
        let mut state = self.state.lock();
        let mut has_changed = write.deleted.is_some();
        if let Some(revision) = write.revision {
            // A write that changes nothing returns the revision of the one before.
            has_changed |= state.revisions.insert(revision, key.clone()).is_none();
            if state.revisions.len() > MOST_WRITES {
                state.revisions.pop_first();
            }
        }
        if let Some(uid) = write.deleted {
            state.deleted.push((uid, key.clone()));
            if state.deleted.len() > MOST_WRITES {
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
            streak.woken_by(Cause::OwnWrites);
        }
        // States are kept only where they will soon be shown.
        if streak.loops(2).is_some() {
            let [_, last] = streak.states.remove(&write.what).unwrap_or_default();
            streak
                .states
                .insert(write.what, [last, Some(write.response)]);
        }
    }

    /// A run has ended; `runs_again` when it asked to be run again at once. Returns how many of its
    /// writes have changed something.
    pub(crate) fn end(&self, key: &ObjectKey, runs_again: bool) -> u32 {
        let mut state = self.state.lock();
        let Some(streak) = state.keys.get_mut(key) else {
            return 0;
        };
        streak.is_running = false;
        if runs_again {
            streak.woken_by(Cause::OwnWrites);
        }
        let writes = streak.writes;
        if streak.is_at_rest() {
            state.keys.remove(key);
            return writes;
        }
        let found = streak.loops(0).filter(|_| !streak.is_reported);
        if let Some(found) = found {
            streak.is_reported = true;
            let report = SelfWaking {
                controller: Arc::clone(&self.controller),
                object: key.clone(),
                found,
                runs: match found {
                    WakeLoop::OwnWrites => streak.runs,
                    WakeLoop::StoppedClock => streak.runs_at_once,
                },
                writes: described(&streak.states, runs_again),
            };
            drop(state);
            tracing::warn!(target: "kubewright::self_wake", "{report}");
            self.found.send_replace(Some(Arc::new(report)));
        }
        writes
    }
}

fn described(states: &BTreeMap<String, [Option<Bytes>; 2]>, runs_again: bool) -> Vec<String> {
    let read =
        |bytes: &Option<Bytes>| -> Option<Value> { serde_json::from_slice(bytes.as_ref()?).ok() };
    let mut writes: Vec<String> = states
        .iter()
        .map(
            |(what, [before, after])| match (read(before), read(after)) {
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
        writes.push("none needed, the run asks to be run again at once".to_owned());
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

    use super::{
        MOST_KEYS, MOST_RUNS, MOST_RUNS_AT_ONCE, SelfWaking, Tracker, Trigger, WakeLoop, Write,
    };

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("web", name)
    }

    /// A write of a ConfigMap, which gets this revision.
    fn write(revision: u64) -> Write {
        let body = json!({
            "metadata": {"resourceVersion": revision.to_string()},
            "data": {"now": revision.to_string(), "same": "s"},
        });
        Write::read("PATCH /x".to_owned(), &Bytes::from(body.to_string()))
    }

    struct Controller(Arc<Tracker>);

    impl Controller {
        fn new() -> Self {
            Self(Arc::new(Tracker::new("pots".into())))
        }

        /// One run of `a` that writes, and the event of its write before or after its end.
        fn run(&self, revision: u64, is_early: bool) {
            let run = self.0.begin(&key("a"));
            if is_early {
                self.0.note_trigger(&run.key, Trigger::Changed(revision));
            }
            self.0.note_write(&run.key, write(revision));
            self.0.end(&run.key, false);
            if !is_early {
                self.0.note_trigger(&run.key, Trigger::Changed(revision));
            }
        }

        fn found(&self) -> Option<Arc<SelfWaking>> {
            self.0.found().borrow().clone()
        }
    }

    #[test]
    fn key_that_only_its_writes_wake_is_reported_with_what_changes() {
        for is_early in [false, true] {
            let controller = Controller::new();
            for revision in 1..=u64::from(MOST_RUNS) {
                controller.run(revision, is_early);
            }
            assert_eq!(controller.found(), None);
            controller.run(u64::from(MOST_RUNS) + 1, is_early);
            let found = controller.found().unwrap();
            assert_eq!((found.runs, &found.object), (MOST_RUNS, &key("a")));
            assert_eq!(found.writes, [r#"PATCH /x (data.now: "100" -> "101")"#]);
        }
    }

    #[test]
    fn whatever_else_wakes_the_key_begins_a_new_count() {
        let others = [
            Trigger::Changed(1_000_000),
            Trigger::Gone("u"),
            Trigger::Other,
        ];
        for other in others {
            let controller = Controller::new();
            for revision in 1..=u64::from(5 * MOST_RUNS) {
                controller.run(revision, false);
                if revision % 50 == 0 {
                    controller.0.note_trigger(&key("a"), other);
                }
            }
            assert_eq!(controller.found(), None, "{other:?}");
        }
    }

    #[test]
    fn writes_of_one_key_that_wake_another_are_no_loop() {
        let controller = Controller::new();
        for revision in 1..=u64::from(5 * MOST_RUNS) {
            let a = controller.0.begin(&key("a"));
            controller.0.note_write(&a.key, write(revision));
            controller.0.end(&a.key, false);
            let b = controller.0.begin(&key("b"));
            controller
                .0
                .note_trigger(&b.key, Trigger::Changed(revision));
            controller.0.note_write(&b.key, write(1_000_000 + revision));
            controller.0.end(&b.key, false);
        }
        assert_eq!(controller.found(), None);
    }

    #[test]
    fn deletes_and_immediate_requeues_count_too() {
        let controller = Controller::new();
        for _ in 0..=MOST_RUNS {
            let run = controller.0.begin(&key("a"));
            let status = json!({"kind": "Status", "details": {"uid": "u"}});
            let status = Bytes::from(status.to_string());
            let delete = Write::read("DELETE /x".to_owned(), &status);
            controller.0.note_write(&run.key, delete);
            controller.0.end(&run.key, false);
            controller.0.note_trigger(&run.key, Trigger::Gone("u"));
        }
        assert!(controller.found().is_some());
        let controller = Controller::new();
        for _ in 0..=MOST_RUNS {
            let run = controller.0.begin(&key("a"));
            controller.0.end(&run.key, true);
        }
        assert!(controller.found().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn key_that_others_wake_is_reported_when_no_time_passes() {
        let controller = Controller::new();
        let fight = |first: u64| {
            for revision in first..first + u64::from(MOST_RUNS_AT_ONCE) / 2 {
                controller.run(revision, false);
                controller.0.note_trigger(&key("a"), Trigger::Other);
                // It finds nothing to do in between.
                let run = controller.0.begin(&key("a"));
                controller.0.end(&run.key, false);
            }
        };
        controller.run(1, false);
        tokio::time::advance(Duration::from_nanos(1)).await;
        fight(2);
        let found = controller.found().unwrap();
        assert_eq!(found.found, WakeLoop::StoppedClock);
        assert_eq!(found.runs, MOST_RUNS_AT_ONCE);
        // With time between the runs nothing is wrong.
        let controller = Controller::new();
        for revision in 1..=u64::from(MOST_RUNS_AT_ONCE) {
            controller.run(revision, false);
            controller.0.note_trigger(&key("a"), Trigger::Other);
            tokio::time::advance(Duration::from_nanos(1)).await;
        }
        assert_eq!(controller.found(), None);
    }

    #[test]
    fn writes_that_change_something_are_counted() {
        let controller = Controller::new();
        for (revisions, expected) in [([1, 2], 2), ([2, 3], 1), ([3, 3], 0)] {
            let run = controller.0.begin(&key("a"));
            for revision in revisions {
                controller.0.note_write(&run.key, write(revision));
            }
            assert_eq!(controller.0.end(&run.key, false), expected);
        }
    }

    #[test]
    fn keys_at_rest_are_forgotten() {
        let keys = |controller: &Controller| controller.0.state.lock().keys.len();
        let controller = Controller::new();
        controller.run(1, false);
        let run = controller.0.begin(&key("a"));
        controller.0.end(&run.key, false);
        assert_eq!(keys(&controller), 0);
        // Of keys whose events are filtered out no second run comes.
        for number in 0..3 * MOST_KEYS {
            let run = controller.0.begin(&key(&number.to_string()));
            let revision = u64::try_from(number).unwrap() + 10;
            controller.0.note_write(&run.key, write(revision));
            controller.0.end(&run.key, false);
        }
        assert!(keys(&controller) <= MOST_KEYS);
    }
}
