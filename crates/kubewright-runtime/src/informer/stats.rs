use std::sync::Arc;

use crate::Error;

/// What an informer has done so far.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Lists that were taken in; all but the first were relists.
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
