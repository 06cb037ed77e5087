//! Counters and status of informers.

use std::sync::Arc;

use kubewright_core::Revision;

use super::sync::Obstacle;
use crate::Error;
use crate::reflector::InformerSpec;

/// The counters of an informer, and the size of its store.
#[derive(Clone, Debug, Default)]
pub struct InformerStats {
    /// The number of objects that list and watch have delivered.
    pub objects: usize,
    /// The size of their records in bytes.
    pub bytes: usize,
    /// The last delivered revision; none where resourceVersions are not numbers.
    pub revision: Option<Revision>,
    /// The number of lists; all but the first are relists.
    pub lists: u64,
    /// The number of changes that list and watch have delivered.
    pub changes: u64,
    /// The number of failures, all of which were retried.
    pub failures: u64,
    /// The number of objects that were skipped because not even their metadata could be read. An
    /// object counts each time it is delivered.
    pub unreadable: u64,
    /// The latest failure; none after a list or watch has succeeded since.
    pub last_error: Option<Arc<Error>>,
}

impl InformerStats {
    /// The number of lists after the first.
    pub fn relists(&self) -> u64 {
        self.lists.saturating_sub(1)
    }
}

/// The status of one informer, for metrics and readiness.
#[derive(Clone, Debug)]
pub struct InformerStatus {
    /// The collection that is listed and watched.
    pub spec: InformerSpec,
    /// Whether the first list is in the store.
    pub is_synced: bool,
    /// What keeps the informer from its first list, where a user has to act.
    pub obstacle: Option<Obstacle>,
    /// Its counters.
    pub stats: InformerStats,
    /// The number of revisions by which it is behind the most advanced informer of the set. A kind
    /// without changes receives the revisions of other kinds about once a minute, in bookmarks.
    pub lag: Option<u64>,
}

/// Sets the lag of each informer.
pub(super) fn with_lags(mut all: Vec<InformerStatus>) -> Vec<InformerStatus> {
    let newest = all.iter().filter_map(|status| status.stats.revision).max();
    for status in &mut all {
        let (Some(newest), Some(own)) = (newest, status.stats.revision) else {
            continue;
        };
        status.lag = Some(newest.number().saturating_sub(own.number()));
    }
    all
}
