//! The work queue of a control loop.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::control_loop::Step;

const FIRST_BACKOFF: Duration = Duration::from_millis(10);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// The keys that a control loop still has to process: each key once, in the order of arrival, some
/// of them at a later time.
#[derive(Debug)]
pub(crate) struct WorkQueue<K> {
    ready: VecDeque<K>,
    /// The keys in `ready`.
    queued: BTreeSet<K>,
    delayed: BTreeSet<(Instant, K)>,
    failures: BTreeMap<K, u32>,
}

impl<K> Default for WorkQueue<K> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: BTreeSet::new(),
            delayed: BTreeSet::new(),
            failures: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone + std::fmt::Debug> WorkQueue<K> {
    /// Enqueues a key.
    pub(crate) fn add(&mut self, key: K) {
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// Enqueues a key at the given time. A key that is delayed already is enqueued at both times.
    pub(crate) fn add_at(&mut self, time: Instant, key: K) {
        self.delayed.insert((time, key));
    }

    /// Enqueues a key at the given time in place of all times at which it was delayed.
    pub(crate) fn reschedule(&mut self, time: Instant, key: K) {
        self.delayed.retain(|(_, other)| *other != key);
        self.add_at(time, key);
    }

    /// The next key to process.
    pub(crate) fn pop(&mut self) -> Option<K> {
        let now = Instant::now();
        while let Some((time, _)) = self.delayed.first()
            && *time <= now
            && let Some((_, key)) = self.delayed.pop_first()
        {
            self.add(key);
        }
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        Some(key)
    }

    /// The result of a step that found no key: idle until the first delayed key is due.
    pub(crate) fn idle(&self) -> Step {
        Step::Idle(self.delayed.first().map(|(time, _)| *time))
    }

    /// Ends the processing of a key. A key that failed is retried with exponential backoff.
    ///
    /// A conflict or a missing object is not retried: the state has changed, and the loop enqueues
    /// the key when it observes the change. What the server does not implement is not retried
    /// either.
    pub(crate) fn finish(&mut self, key: K, result: Result<(), Status>) {
        let failure = match result {
            Err(failure) if !matches!(failure.code, 404 | 409) => failure,
            _ => {
                self.failures.remove(&key);
                return;
            }
        };
        tracing::warn!(
            ?key,
            code = failure.code,
            message = failure.message,
            "processing a key failed"
        );
        if failure.code != 501 {
            self.retry(key);
        }
    }

    /// Ends the processing of a key that no change need enqueue again: unlike [`Self::finish`], it
    /// also retries after a conflict or a missing object.
    pub(crate) fn finish_retrying_conflicts(&mut self, key: K, result: Result<(), Status>) {
        match result {
            Err(failure) if matches!(failure.code, 404 | 409) => self.retry(key),
            other => self.finish(key, other),
        }
    }

    fn retry(&mut self, key: K) {
        let failures = self.failures.entry(key.clone()).or_default();
        let backoff = FIRST_BACKOFF
            .saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX))
            .min(MAX_BACKOFF);
        *failures = failures.saturating_add(1).min(31);
        self.add_at(Instant::now() + backoff, key);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_wire::status::Status;
    use tokio::time::{Instant, advance};

    use super::{Step, WorkQueue};

    #[tokio::test(start_paused = true)]
    async fn key_that_is_added_twice_is_popped_once() {
        let mut queue = WorkQueue::default();
        for key in ["a", "b", "a"] {
            queue.add(key);
        }
        assert_eq!(
            [queue.pop(), queue.pop(), queue.pop()],
            [Some("a"), Some("b"), None]
        );
        assert_eq!(queue.idle(), Step::Idle(None));
    }

    #[tokio::test(start_paused = true)]
    async fn backoff_doubles_from_10ms_to_60s_and_is_reset_by_success() {
        let mut queue = WorkQueue::default();
        let mut delays = Vec::new();
        for _ in 0..16 {
            let start = Instant::now();
            queue.finish("a", Err(Status::internal("no")));
            let Step::Idle(Some(deadline)) = queue.idle() else {
                unreachable!("a retry is scheduled")
            };
            delays.push((deadline - start).as_millis());
            advance(deadline - start).await;
            assert_eq!(queue.pop(), Some("a"));
        }
        assert_eq!(delays[..4], [10, 20, 40, 80]);
        assert_eq!(delays[15], Duration::from_secs(60).as_millis());
        queue.finish("a", Ok(()));
        queue.finish("a", Err(Status::internal("no")));
        assert_eq!(
            queue.idle(),
            Step::Idle(Some(Instant::now() + Duration::from_millis(10)))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn conflicts_and_missing_objects_are_retried_on_request() {
        let mut queue = WorkQueue::default();
        for failure in [
            Status::not_found(("", "pods"), "a"),
            Status::conflict(("", "pods"), "a"),
        ] {
            queue.finish_retrying_conflicts("a", Err(failure));
            advance(Duration::from_millis(20)).await;
            assert_eq!(queue.pop(), Some("a"));
        }
        queue.finish_retrying_conflicts("a", Ok(()));
        queue.finish_retrying_conflicts("b", Err(Status::not_implemented("no")));
        assert_eq!(queue.idle(), Step::Idle(None));
    }

    #[tokio::test(start_paused = true)]
    async fn conflicts_missing_objects_and_unimplemented_requests_are_not_retried() {
        let mut queue = WorkQueue::default();
        queue.finish("a", Err(Status::not_found(("", "pods"), "a")));
        queue.finish("b", Err(Status::conflict(("", "pods"), "b")));
        queue.finish("c", Err(Status::not_implemented("no")));
        assert_eq!(queue.idle(), Step::Idle(None));
    }
}
