use std::fmt::Display;
use std::panic::Location;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::failure::fail;
use super::handle::Cluster;
use crate::Error;

/// How often a real cluster is looked at.
const POLL: Duration = Duration::from_millis(50);
/// How often an embedded cluster is looked at when it stores nothing: the test may wait for what
/// is not in the cluster.
const IDLE_POLL: Duration = Duration::from_secs(1);

impl Cluster {
    /// Waits until `check` holds: 30 seconds, unless `KUBEWRIGHT_TEST_TIMEOUT` says otherwise.
    ///
    /// On the embedded cluster it looks again at each write, and time jumps when nothing else is
    /// to be done; on a real one it looks every 50 ms.
    ///
    /// # Panics
    ///
    /// When time runs out; the message says what the check read last.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn eventually<F>(&self, what: impl Display, check: F) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        self.eventually_within(self.shared.patience, what, check)
    }

    /// As [`eventually`](Self::eventually), with a time of the caller's own.
    ///
    /// # Panics
    ///
    /// When time runs out; the message says what the check read last.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn eventually_within<F>(
        &self,
        patience: Duration,
        what: impl Display,
        check: F,
    ) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let location = Location::caller();
        async move {
            let start = Instant::now();
            let mut looks = Looks::new(self, start + patience);
            loop {
                if self.look(&check).await {
                    return;
                }
                if !looks.wait().await {
                    break;
                }
            }
            let (waited, seen) = (start.elapsed(), self.seen());
            fail(
                location,
                format_args!("waited {waited:?} for {what}; last seen: {seen}"),
            );
        }
    }

    /// Checks that `check` holds now and for `duration`, virtual on the embedded cluster.
    ///
    /// # Panics
    ///
    /// When it once does not; the message says what the check read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn consistently<F>(
        &self,
        duration: Duration,
        what: impl Display,
        check: F,
    ) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let location = Location::caller();
        async move {
            let start = Instant::now();
            let mut looks = Looks::new(self, start + duration);
            loop {
                if !self.look(&check).await {
                    let (waited, seen) = (start.elapsed(), self.seen());
                    fail(
                        location,
                        format_args!("{what}: not so after {waited:?}; seen: {seen}"),
                    );
                }
                if !looks.wait().await {
                    return;
                }
            }
        }
    }

    /// As [`eventually`](Self::eventually), for the kit's own waits, which can fail.
    pub(super) async fn until(
        &self,
        what: &str,
        check: impl AsyncFn() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let mut looks = Looks::new(self, start + self.shared.patience);
        while !check().await? {
            if !looks.wait().await {
                return Err(Error::Waited {
                    what: what.to_owned(),
                    waited: start.elapsed(),
                    last: "not so".to_owned(),
                });
            }
        }
        Ok(())
    }

    async fn look<F: AsyncFn(&Self) -> bool>(&self, check: &F) -> bool {
        self.shared.seen.lock().clear();
        check(self).await
    }

    fn seen(&self) -> String {
        let seen = self.shared.seen.lock();
        if seen.is_empty() {
            return "nothing, the check read no object through the cluster".to_owned();
        }
        seen.join("; ")
    }
}

/// When to look again.
struct Looks {
    revisions: Option<tokio::sync::watch::Receiver<kubewright_core::Revision>>,
    deadline: Instant,
}

impl Looks {
    fn new(cluster: &Cluster, deadline: Instant) -> Self {
        Self {
            revisions: cluster.shared.backend.revisions(),
            deadline,
        }
    }

    /// Waits until it is worth looking again; false when time has run out.
    async fn wait(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        match &mut self.revisions {
            None => sleep_until(self.deadline.min(now + POLL)).await,
            Some(revisions) => {
                let next = self.deadline.min(now + IDLE_POLL);
                // Time out or not: either is a reason to look.
                timeout_at(next, revisions.changed())
                    .await
                    .map(drop)
                    .unwrap_or_default();
            }
        }
        true
    }
}
