use kubewright_core::ObjectKey;

/// What becomes of the failures of a key whose run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finished {
    /// It went well: they are forgotten.
    Forget,
    /// They count for the next run.
    Keep,
}

/// A key with which its worker is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done<'k> {
    pub(super) key: &'k ObjectKey,
    pub(super) finished: Finished,
}
