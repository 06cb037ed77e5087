//! The result of adding a key.

/// The result of adding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Added {
    /// The key was not in the queue.
    New,
    /// The key was in the queue already, for the same time or an earlier one: both additions cause
    /// one run.
    Merged,
    /// The key had a delay, which this addition replaces: the key is not handed out again at the
    /// end of the delay.
    ReplacedDelay,
    /// The key was not added, because the queue is shut down.
    ShutDown,
}
