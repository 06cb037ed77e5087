use std::time::Duration;

use super::Backoff;
use crate::rate_limit::RateLimit;

/// How urgent a key is; higher ones come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Priority(pub i32);

impl Priority {
    /// Of a change that somebody made.
    pub const NORMAL: Self = Self(0);
    /// Of objects that were there at the start: they must not hold up changes. The number is
    /// controller-runtime's.
    pub const INITIAL: Self = Self(-100);
}

/// When and how urgently a key is wanted.
///
/// ```
/// use std::time::Duration;
/// use kubewright_runtime::queue::{Priority, AddOptions};
///
/// let soon = AddOptions { after: Duration::from_secs(5), ..AddOptions::default() };
/// let urgent = AddOptions { priority: Some(Priority(10)), ..AddOptions::default() };
/// # assert_ne!(soon, urgent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// None keeps the priority with which the key was handed out while it is under way, and is
    /// [`Priority::NORMAL`] otherwise.
    pub priority: Option<Priority>,
    /// How long to wait.
    pub after: Duration,
}

/// How keys of lower priority get their share.
///
/// While keys of a higher priority keep coming, each `every`th key is the oldest of those that
/// have waited for `after` or longer. Changes still overtake a long backlog, and the backlog still
/// ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ageing {
    /// How long a key is passed over without limit.
    pub after: Duration,
    /// How many keys at most are taken per key that is older; 1 takes the oldest each time.
    pub every: u32,
}

impl Default for Ageing {
    /// One key in eight, after a second.
    fn default() -> Self {
        Self {
            after: Duration::from_secs(1),
            every: 8,
        }
    }
}

/// Who comes first among keys of one priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// Who became ready first.
    #[default]
    Arrival,
    /// Each namespace in its turn, so that one with many keys does not hold up the others.
    Namespaces,
}

/// How a [`Queue`](super::Queue) works.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueOptions {
    /// How long a failing key waits.
    pub backoff: Backoff,
    /// How many failing keys come back in a second, all together; none means no limit.
    pub rate_limit: Option<RateLimit>,
    /// How keys of lower priority get their share.
    pub ageing: Ageing,
    /// Who comes first among keys of one priority.
    pub fairness: Fairness,
}
