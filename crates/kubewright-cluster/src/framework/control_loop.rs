//! What a controller implements, and what it learns of each change.

use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object};
use tokio::time::Instant;

use super::client::Client;

/// A controller, the scheduler or the kubelets, as [`run_loop`](super::run_loop) calls them.
///
/// Every change is observed in order. Between two steps the loop has always observed its own last
/// write, so that no decision rests on an older state.
pub(crate) trait ControlLoop: Send {
    /// Updates the indexes with a change and enqueues the keys that it concerns.
    fn observe(&mut self, change: &ObjectChange<'_>);

    /// Waits for a reason to step that is neither a change nor a deadline. By default there is
    /// none, and this never completes.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it completes, it has changed nothing.
    fn signal(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Processes the next key of the queue, if there is one.
    fn step(&mut self, client: &Client) -> impl Future<Output = Step> + Send;
}

/// A change of one object. A loop that starts observes every stored object as created.
#[derive(Debug)]
pub(crate) struct ObjectChange<'a> {
    pub(crate) key: &'a Key,
    /// The object before the change; `None` when this loop has not observed it before.
    pub(crate) before: Option<&'a Arc<Object>>,
    /// The object after the change; `None` when it was deleted.
    pub(crate) after: Option<&'a Arc<Object>>,
}

impl ObjectChange<'_> {
    /// The object before and after the change, as far as it existed.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Arc<Object>> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A key was processed. There may be more.
    Worked,
    /// Nothing to do before the next change, or before the given time.
    Idle(Option<Instant>),
}

impl Step {
    /// The result of two queues: worked when one has, else idle until the earlier deadline.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Idle(first), Self::Idle(second)) => {
                Self::Idle(first.into_iter().chain(second).min())
            }
            _ => Self::Worked,
        }
    }
}
