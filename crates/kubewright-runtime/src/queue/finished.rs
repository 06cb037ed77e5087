//! The end of a run.

use kubewright_core::ObjectKey;

/// What happens to the failure count of a key at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finished {
    /// The run was successful: the count is reset.
    Forget,
    /// The count is kept for the next run.
    Keep,
}

/// A key whose run has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct FinishedKey<'k> {
    pub(super) key: &'k ObjectKey,
    pub(super) finished: Finished,
}
