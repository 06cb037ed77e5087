//! The options of a queue and of an addition.

use std::time::Duration;

use super::Backoff;
use crate::rate_limit::RateLimit;

/// The priority of a key; higher ones come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Priority(pub i32);

impl Priority {
    /// The priority of changes.
    pub const NORMAL: Self = Self(0);
    /// The priority of the objects of the initial list, which must not delay changes. The number is
    /// that of controller-runtime.
    pub const INITIAL: Self = Self(-100);
}

/// When a key is added, and with which priority.
///
/// ```
/// use std::time::Duration;
/// use kubewright_runtime::queue::{AddOptions, Priority};
///
/// let soon = AddOptions { after: Duration::from_secs(5), ..AddOptions::default() };
/// let urgent = AddOptions { priority: Some(Priority(10)), ..AddOptions::default() };
/// # assert_ne!(soon, urgent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// The priority. `None` is the priority of the current run if the key is being processed, and
    /// [`Priority::NORMAL`] otherwise.
    pub priority: Option<Priority>,
    /// The delay.
    pub after: Duration,
}

/// How keys of lower priority avoid starvation.
///
/// While keys of a higher priority keep coming, each `every`th key is the oldest of those that
/// have waited for `after` or longer. So changes overtake a long backlog, and the backlog still
/// ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aging {
    /// The waiting time during which a key can be passed over without limit.
    pub after: Duration,
    /// One key in this number is the oldest one; 1 always takes the oldest.
    pub every: u32,
}

impl Default for Aging {
    /// One key in eight, after a second.
    fn default() -> Self {
        Self {
            after: Duration::from_secs(1),
            every: 8,
        }
    }
}

/// The order of keys of the same priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// The order in which keys became ready.
    #[default]
    Arrival,
    /// The namespaces in turn, so that a namespace with many keys does not delay the others.
    Namespaces,
}

/// The options of a [`Queue`](super::Queue).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueOptions {
    /// The backoff of failing keys.
    pub backoff: Backoff,
    /// The rate limit of all failing keys together; `None` is no limit.
    pub rate_limit: Option<RateLimit>,
    /// How keys of lower priority avoid starvation.
    pub aging: Aging,
    /// The order of keys of the same priority.
    pub fairness: Fairness,
}
