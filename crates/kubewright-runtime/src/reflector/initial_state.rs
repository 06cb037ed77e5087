//! The initial state of a streaming list while it is incomplete.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use tokio::time::Instant;

use super::sink::Sink;
use super::skipped::SkippedObjects;
use crate::store::Delta;

/// How long a server can send no further object without ending the initial state. A server that
/// ignores `sendInitialEvents` never ends it.
const STALL_TIMEOUT: Duration = Duration::from_secs(10);

/// The objects of the initial state that have arrived.
pub(super) struct InitialState {
    objects: BTreeMap<ObjectKey, Record>,
    pub(super) skipped: SkippedObjects,
    /// When the last new object arrived. Other frames do not count: a server that ignores
    /// `sendInitialEvents` sends them forever.
    progress: Instant,
}

impl InitialState {
    pub(super) fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            skipped: SkippedObjects::default(),
            progress: Instant::now(),
        }
    }

    /// When the streaming list fails unless another object arrives.
    pub(super) fn deadline(&self) -> Instant {
        self.progress + STALL_TIMEOUT
    }

    /// How long no new object has arrived.
    pub(super) fn stalled_for(&self) -> Duration {
        self.progress.elapsed()
    }

    /// The number of objects.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Applies an event. The initial state can be older than the requested revision; the server
    /// then sends the changes up to that revision before the final bookmark.
    pub(super) fn apply(&mut self, delta: Delta, sink: &impl Sink) {
        match delta {
            Delta::Applied(record) => {
                // An unchanged object is held in memory once while the state is read.
                let record = sink.held(&record).unwrap_or(record);
                if self.objects.insert(record.key(), record).is_none() {
                    self.progress = Instant::now();
                }
            }
            Delta::Deleted(record) => {
                self.objects.remove(&record.key());
            }
            Delta::Bookmark(_) => {}
        }
    }

    /// Hands the complete state to the sink.
    pub(super) fn finish(self, what: &str, resource_version: &str, sink: &mut impl Sink) {
        sink.replace(self.objects.into_values().collect(), resource_version);
        self.skipped.report(what, sink);
    }
}
