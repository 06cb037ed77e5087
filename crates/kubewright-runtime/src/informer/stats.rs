use std::sync::Arc;

use kubewright_core::Revision;

use super::{InformerSpec, Obstacle};
use crate::Error;

/// What an informer has done so far, and what it holds.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// How many objects list and watch have delivered and not taken away.
    pub objects: usize,
    /// How many bytes their records take.
    pub bytes: usize,
    /// How far the server's history is known; none where revisions are not numbers.
    pub revision: Option<Revision>,
    /// States that were taken in; all but the first were relists.
    pub lists: u64,
    /// Changes that list and watch have brought.
    pub changes: u64,
    /// Failures, all retried.
    pub failures: u64,
    /// Objects that were left out, each time they came, because not even their metadata could be
    /// read.
    pub unreadable: u64,
    /// The latest failure, none once a list or a watch has brought something since.
    pub last_error: Option<Arc<Error>>,
}

impl Stats {
    /// Lists beyond the first.
    pub fn relists(&self) -> u64 {
        self.lists.saturating_sub(1)
    }
}

/// One informer of a set, for metrics and readiness.
#[derive(Clone, Debug)]
pub struct InformerStatus {
    /// What is followed.
    pub spec: InformerSpec,
    /// Whether the state is in the store.
    pub is_synced: bool,
    /// What somebody has to do something about.
    pub obstacle: Option<Obstacle>,
    /// What it has done and holds.
    pub stats: Stats,
    /// By how many revisions it is behind the informer of the set that is furthest. A kind in
    /// which nothing happens is told of other kinds' revisions about once a minute.
    pub lag: Option<u64>,
}

/// Fills in who is how far behind.
pub(super) fn with_lags(mut all: Vec<InformerStatus>) -> Vec<InformerStatus> {
    let furthest = all.iter().filter_map(|one| one.stats.revision).max();
    for one in &mut all {
        let (Some(furthest), Some(own)) = (furthest, one.stats.revision) else {
            continue;
        };
        one.lag = Some(furthest.number().saturating_sub(own.number()));
    }
    all
}
