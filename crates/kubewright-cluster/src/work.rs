use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::Step;

const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// What a controller still has to look at: each key once, in the order of arrival, some later.
#[derive(Debug)]
pub(super) struct Work<K> {
    ready: VecDeque<K>,
    queued: BTreeSet<K>,
    later: BTreeSet<(Instant, K)>,
    failures: BTreeMap<K, u32>,
}

impl<K> Default for Work<K> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: BTreeSet::new(),
            later: BTreeSet::new(),
            failures: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone + std::fmt::Debug> Work<K> {
    /// Looks at the key soon.
    pub(super) fn add(&mut self, key: K) {
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// Looks at the key at the given time; keys that wait already wait for both.
    pub(super) fn add_at(&mut self, time: Instant, key: K) {
        self.later.insert((time, key));
    }

    /// Looks at the key at the given time and not before, however often it was to be looked at.
    pub(super) fn put_off(&mut self, time: Instant, key: K) {
        self.later.retain(|(_, other)| *other != key);
        self.add_at(time, key);
    }

    /// The next key to look at.
    pub(super) fn next(&mut self) -> Option<K> {
        let now = Instant::now();
        while let Some((time, _)) = self.later.first()
            && *time <= now
            && let Some((_, key)) = self.later.pop_first()
        {
            self.add(key);
        }
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        Some(key)
    }

    /// That nothing is ready, and when something will be.
    pub(super) fn idle(&self) -> Step {
        Step::Idle(self.later.first().map(|(time, _)| *time))
    }

    /// Notes how the work on a key ended; what failed is looked at again later, each time after
    /// twice the wait.
    ///
    /// A conflict or a missing object means that the state has moved on: the change that did it
    /// brings the key back by itself. What the server does not implement is not tried again.
    pub(super) fn settle(&mut self, key: K, result: Result<(), Status>) {
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
            "work failed"
        );
        if failure.code != 501 {
            self.retry(key);
        }
    }

    /// The same for a key that no change may bring back: a conflict or a missing object is tried
    /// again as well.
    pub(super) fn settle_insistently(&mut self, key: K, result: Result<(), Status>) {
        match result {
            Err(failure) if matches!(failure.code, 404 | 409) => self.retry(key),
            other => self.settle(key, other),
        }
    }

    fn retry(&mut self, key: K) {
        let failures = self.failures.entry(key.clone()).or_default();
        let wait = FIRST_RETRY
            .saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX))
            .min(LAST_RETRY);
        *failures = failures.saturating_add(1).min(31);
        self.add_at(Instant::now() + wait, key);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_wire::status::Status;
    use tokio::time::{Instant, advance};

    use super::{Step, Work};

    #[tokio::test(start_paused = true)]
    async fn a_key_is_handed_out_once_however_often_it_was_added() {
        let mut work = Work::default();
        for key in ["a", "b", "a"] {
            work.add(key);
        }
        assert_eq!(
            [work.next(), work.next(), work.next()],
            [Some("a"), Some("b"), None]
        );
        assert_eq!(work.idle(), Step::Idle(None));
    }

    #[tokio::test(start_paused = true)]
    async fn failed_work_comes_back_after_twice_the_wait_each_time() {
        let mut work = Work::default();
        let mut waits = Vec::new();
        for _ in 0..16 {
            let start = Instant::now();
            work.settle("a", Err(Status::internal("no")));
            let Step::Idle(Some(wake)) = work.idle() else {
                unreachable!("a retry is planned")
            };
            waits.push((wake - start).as_millis());
            advance(wake - start).await;
            assert_eq!(work.next(), Some("a"));
        }
        assert_eq!(waits[..4], [10, 20, 40, 80]);
        assert_eq!(waits[15], Duration::from_secs(60).as_millis());
        work.settle("a", Ok(()));
        work.settle("a", Err(Status::internal("no")));
        assert_eq!(
            work.idle(),
            Step::Idle(Some(Instant::now() + Duration::from_millis(10)))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_moved_on_is_tried_again_where_no_change_may_follow() {
        let mut work = Work::default();
        for failure in [
            Status::not_found(("", "pods"), "a"),
            Status::conflict(("", "pods"), "a"),
        ] {
            work.settle_insistently("a", Err(failure));
            advance(Duration::from_millis(20)).await;
            assert_eq!(work.next(), Some("a"));
        }
        work.settle_insistently("a", Ok(()));
        work.settle_insistently("b", Err(Status::not_implemented("no")));
        assert_eq!(work.idle(), Step::Idle(None));
    }

    #[tokio::test(start_paused = true)]
    async fn what_moved_on_or_is_not_implemented_is_left_alone() {
        let mut work = Work::default();
        work.settle("a", Err(Status::not_found(("", "pods"), "a")));
        work.settle("b", Err(Status::conflict(("", "pods"), "b")));
        work.settle("c", Err(Status::not_implemented("no")));
        assert_eq!(work.idle(), Step::Idle(None));
    }
}
