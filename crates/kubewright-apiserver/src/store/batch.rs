//! The size of one read of the log.

use super::log::Change;

/// How many changes a read returns at most, so that a reader far behind does not hold them all.
const MAX_CHANGES: usize = 128;
/// About how many bytes a read returns at most, but at least one change.
const MAX_BYTES: usize = 256 * 1024;

/// The rest of a batch that is not filled yet.
#[derive(Debug)]
pub(super) struct Batch {
    changes: usize,
    bytes: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            changes: MAX_CHANGES,
            bytes: MAX_BYTES,
        }
    }
}

impl Batch {
    /// Adds a change. Returns whether the batch is full.
    pub(super) fn is_filled_by(&mut self, change: &Change) -> bool {
        self.changes = self.changes.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(change.weight());
        self.changes == 0 || self.bytes == 0
    }
}
