//! The result of a successful reconcile.

use std::time::Duration;

use crate::queue::Priority;

/// The result of a successful reconcile: whether and when the object is reconciled again.
///
/// ```
/// use std::time::Duration;
/// use kubewright_runtime::controller::Outcome;
///
/// assert_eq!(Outcome::done().next_run(), None);
/// let soon = Outcome::requeue_after(Duration::from_secs(30));
/// assert_eq!(soon.next_run(), Some(Duration::from_secs(30)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "return it from the reconcile function"]
pub struct Outcome {
    next_run: Option<Duration>,
    priority: Option<Priority>,
}

impl Outcome {
    /// The object is reconciled again only when something changes.
    pub const fn done() -> Self {
        Self {
            next_run: None,
            priority: None,
        }
    }

    /// The object is reconciled again after this delay, or earlier when something changes.
    ///
    /// A change before the end of the delay replaces it: each run decides anew about the next one.
    pub const fn requeue_after(delay: Duration) -> Self {
        Self {
            next_run: Some(delay),
            priority: None,
        }
    }

    /// Sets the priority of the next run, which otherwise has the priority of this one.
    pub const fn with_priority(self, priority: Priority) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }

    /// The delay after which the object is reconciled again without a change.
    pub const fn next_run(self) -> Option<Duration> {
        self.next_run
    }

    /// The priority of the next run; `None` keeps the priority of this one.
    pub const fn priority(self) -> Option<Priority> {
        self.priority
    }
}
