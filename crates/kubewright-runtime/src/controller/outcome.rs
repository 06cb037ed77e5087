use std::time::Duration;

use crate::queue::Priority;

/// What a reconcile that went well asks for.
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
    /// Nothing more until something changes.
    pub const fn done() -> Self {
        Self {
            next_run: None,
            priority: None,
        }
    }

    /// Run again after this time, or earlier when something changes.
    ///
    /// A change before then takes the place of the delay: each run says anew when the next is due.
    pub const fn requeue_after(delay: Duration) -> Self {
        Self {
            next_run: Some(delay),
            priority: None,
        }
    }

    /// The same, where the next run is so urgent; otherwise it is as urgent as this one.
    pub const fn with_priority(self, priority: Priority) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }

    /// When to run again without a change.
    pub const fn next_run(self) -> Option<Duration> {
        self.next_run
    }

    /// How urgent the next run is; none keeps what this one had.
    pub const fn priority(self) -> Option<Priority> {
        self.priority
    }
}
