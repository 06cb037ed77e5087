use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use tokio::time::Instant;

use super::intake::Skipped;
use crate::store::Delta;

/// A server that sends no further object of the state for so long, and does not say that there is
/// none, never will.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a collection that a watch begins with, while it is not whole.
pub(super) struct Gathering {
    objects: BTreeMap<ObjectKey, Record>,
    pub(super) skipped: Skipped,
    /// When the last object came that was not there before. Other frames do not count: a server
    /// that ignores what it was asked for sends those for ever.
    progress: Instant,
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            skipped: Skipped::default(),
            progress: Instant::now(),
        }
    }

    /// When it is given up unless an object comes.
    pub(super) fn deadline(&self) -> Instant {
        self.progress + PATIENCE
    }

    /// How long nothing has come.
    pub(super) fn silence(&self) -> Duration {
        self.progress.elapsed()
    }

    /// One more frame: the state that is sent may be older than what was asked for, and is then
    /// brought up to date by changes.
    pub(super) fn take(&mut self, delta: Delta, held: impl Fn(&Record) -> Option<Record>) {
        match delta {
            Delta::Applied(record) => {
                // What has not changed is kept once, not twice, while the state is read.
                let record = held(&record).unwrap_or(record);
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

    /// The whole state.
    pub(super) fn finish(self) -> (Vec<Record>, Skipped) {
        (self.objects.into_values().collect(), self.skipped)
    }
}
