use std::time::Duration;

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
}

impl Outcome {
    /// Nothing more until something changes.
    pub const fn done() -> Self {
        Self { next_run: None }
    }

    /// Run again after this time, or earlier when something changes.
    ///
    /// A change before then takes the place of the delay: each run says anew when the next is due.
    pub const fn requeue_after(delay: Duration) -> Self {
        Self {
            next_run: Some(delay),
        }
    }

    /// When to run again without a change.
    pub const fn next_run(self) -> Option<Duration> {
        self.next_run
    }
}
