//! Consecutive runs of one key.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use tokio::time::Instant;

use super::report::LoopKind;

/// The number of runs in a row that a key may cause by its own writes. A reconcile that works step
/// by step needs a few.
pub(super) const MAX_RUNS: u32 = 100;
/// The number of runs that a key may have at one instant. Only in virtual time does an instant
/// last, and it lasts as long as there is work: a loop through other controllers would never end
/// there. A test that creates thousands of objects at once needs thousands of runs.
pub(super) const MAX_RUNS_AT_ONCE: u32 = 10_000;

/// What enqueued a key since its last run began. A later variant takes precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    #[default]
    Nothing,
    OwnWrites,
    Others,
}

/// The consecutive runs of a key.
#[derive(Default)]
pub(super) struct Streak {
    pub(super) is_running: bool,
    /// The number of runs in a row that were caused only by the key's own writes.
    pub(super) runs: u32,
    /// When the last run began.
    started_at: Option<Instant>,
    /// The number of runs that began at that instant.
    pub(super) runs_at_once: u32,
    cause: Cause,
    /// Revisions of events that are not known as own writes yet: an event can arrive before the
    /// response to the write.
    pub(super) unknown: BTreeSet<u64>,
    /// The number of writes of the current run that changed something.
    pub(super) writes: u32,
    pub(super) is_reported: bool,
    /// The last two states of each object that the runs write.
    pub(super) states: BTreeMap<String, [Option<Bytes>; 2]>,
}

impl Streak {
    /// The streak after a run begins at `now`.
    pub(super) fn next(&mut self, now: Instant) -> Self {
        let is_self_caused = self.cause == Cause::OwnWrites && self.unknown.is_empty();
        let is_same_instant = self.started_at == Some(now);
        let mut next = Self {
            is_running: true,
            runs: if is_self_caused { self.runs + 1 } else { 0 },
            started_at: Some(now),
            runs_at_once: if is_same_instant {
                self.runs_at_once + 1
            } else {
                1
            },
            ..Self::default()
        };
        if is_self_caused || is_same_instant {
            next.is_reported = self.is_reported;
            next.states = std::mem::take(&mut self.states);
        }
        next
    }

    /// The loop that the streak is, or becomes after `margin` more runs.
    pub(super) fn loop_kind(&self, margin: u32) -> Option<LoopKind> {
        if self.runs + margin >= MAX_RUNS {
            return Some(LoopKind::OwnWrites);
        }
        (self.runs_at_once + margin >= MAX_RUNS_AT_ONCE).then_some(LoopKind::StoppedClock)
    }

    /// Whether the streak need not be remembered after a run that ends now.
    pub(super) fn is_idle(&self) -> bool {
        let has_time_passed = self.started_at != Some(Instant::now());
        self.writes == 0 && self.cause == Cause::Nothing && has_time_passed
    }

    /// Records why the key was enqueued.
    pub(super) fn note_cause(&mut self, cause: Cause) {
        self.cause = self.cause.max(cause);
    }
}
