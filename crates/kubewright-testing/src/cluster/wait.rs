//! Waits for conditions: `eventually`, `consistently`, and the waits of this crate.

use std::fmt::{self, Display};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use kubewright::controller::ReconcileLoop;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::failure::fail;
use super::handle::Cluster;
use super::reconcile_loops::ReconcileLoops;
use crate::Error;

/// How often a condition is checked on a real cluster.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often a condition is checked on an embedded cluster without writes: it may depend on a state
/// outside of the cluster.
const IDLE_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The timeout of a check that begins at the deadline, so that the state at the end counts.
const LAST_CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// How many checks an embedded cluster gets while no virtual time passes. Virtual time passes only
/// when all tasks are idle: without a limit, a wait would not end while writes never end.
/// The limit is lower in the tests of this crate.
const MAX_CHECKS_WITHOUT_TIME: u32 = if cfg!(test) { 100 } else { 10_000 };

impl Cluster {
    /// Waits until `check` returns `true`: for 30 seconds, unless `KUBEWRIGHT_TEST_TIMEOUT` is set.
    ///
    /// On the embedded cluster it checks again after each write, and virtual time advances when all
    /// tasks are idle; on a real cluster it checks every 50 ms.
    ///
    /// # Panics
    ///
    /// When it times out; the message contains what the check read last.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn eventually<F>(&self, condition: impl Display, check: F) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        self.eventually_within(self.shared.timeout, condition, check)
    }

    /// Waits as [`eventually`](Self::eventually) does, with another timeout.
    ///
    /// # Panics
    ///
    /// When it times out; the message contains what the check read last.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn eventually_within<F>(
        &self,
        timeout: Duration,
        condition: impl Display,
        check: F,
    ) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let location = Location::caller();
        async move {
            let start = Instant::now();
            let mut polling = Polling::new(self, start + timeout);
            let reason = loop {
                match self.check(start + timeout, &check).await {
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(end) => break format!("; the check did not return{end}"),
                }
                if let Err(end) = polling.wait().await {
                    break end.to_string();
                }
            };
            let (elapsed, seen) = (start.elapsed(), self.seen());
            let mut hint = self.inert_kinds();
            if !hint.is_empty() {
                hint = format!("; {hint}");
            }
            fail(
                location,
                format_args!("waited {elapsed:?} for {condition}{reason}; last seen: {seen}{hint}"),
            );
        }
    }

    /// Checks that `check` returns `true` now and for `duration`, which is virtual time on the
    /// embedded cluster.
    ///
    /// # Panics
    ///
    /// When it returns `false`; the message contains what the check read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn consistently<F>(
        &self,
        duration: Duration,
        condition: impl Display,
        check: F,
    ) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let location = Location::caller();
        async move {
            let start = Instant::now();
            let mut polling = Polling::new(self, start + duration);
            let reason = loop {
                // The last check may begin just before the end.
                let deadline = Instant::now() + self.shared.timeout;
                match self.check(deadline, &check).await {
                    Ok(true) => {}
                    Ok(false) => break "violated".to_owned(),
                    Err(end) => break format!("the check did not return{end}"),
                }
                match polling.wait().await {
                    Ok(()) => {}
                    Err(WaitEnd::TimedOut) => return,
                    Err(end) => break format!("not known{end}"),
                }
            };
            let (elapsed, seen) = (start.elapsed(), self.seen());
            fail(
                location,
                format_args!("{condition}: {reason} after {elapsed:?}; seen: {seen}"),
            );
        }
    }

    /// Waits as [`eventually`](Self::eventually) does, for operations of this crate. The check
    /// returns what is missing, or an error.
    pub(super) async fn until(
        &self,
        condition: &str,
        check: impl AsyncFn() -> Result<Option<String>, Error>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let deadline = start + self.shared.timeout;
        let mut polling = Polling::new(self, deadline);
        let mut last = "no response".to_owned();
        let end = loop {
            match self.within(deadline, check()).await {
                Ok(checked) => match checked? {
                    None => return Ok(()),
                    Some(missing) => last = missing,
                },
                Err(end) => break end,
            }
            if let Err(end) = polling.wait().await {
                break end;
            }
        };
        Err(Error::Timeout {
            condition: condition.to_owned(),
            elapsed: start.elapsed(),
            last: format!("{last}{end}"),
        })
    }

    /// Waits for `work` until the deadline, or until the cluster can make no progress.
    pub(super) async fn within<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, WaitEnd> {
        let mut polling = Polling::new(self, deadline);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                result = &mut work => return Ok(result),
                waited = polling.wait() => waited?,
            }
        }
    }

    async fn check<F>(&self, deadline: Instant, check: &F) -> Result<bool, WaitEnd>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let deadline = deadline.max(Instant::now() + LAST_CHECK_TIMEOUT);
        let before = std::mem::take(&mut *self.shared.seen.lock());
        let result = self.within(deadline, check(self)).await;
        let mut seen = self.shared.seen.lock();
        if result.is_err() && seen.is_empty() {
            *seen = before;
        }
        result
    }

    /// A sentence with the written kinds that no controller acts on; empty if there are none.
    pub(crate) fn inert_kinds(&self) -> String {
        let kinds = self.shared.backend.inert_kinds();
        kinds.map(ToString::to_string).unwrap_or_default()
    }

    /// Waits until a reconcile of an operator under test is found that triggers itself, and returns
    /// the message with which the test fails.
    pub(crate) async fn reconcile_loop(&self) -> String {
        self.shared.reconcile_loops.wait().await.to_string()
    }

    fn seen(&self) -> String {
        let seen = self.shared.seen.lock();
        if seen.is_empty() {
            return "nothing, the check read no object through the cluster".to_owned();
        }
        seen.join("; ")
    }
}

/// Waits for the time of the next check.
struct Polling {
    reconcile_loops: ReconcileLoops,
    revisions: Option<tokio::sync::watch::Receiver<kubewright_core::Revision>>,
    deadline: Instant,
    last_check: Instant,
    /// How many further checks there were at the time of the last one.
    checks_without_time: u32,
}

/// Why a wait ends before its condition is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    TimedOut,
    /// Writes never end, so that no virtual time passes.
    Unsettled,
    ReconcileLoop(Arc<ReconcileLoop>),
}

/// The end of a sentence.
impl Display for WaitEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => Ok(()),
            Self::ReconcileLoop(found) => write!(f, "; {found}"),
            Self::Unsettled => write!(
                f,
                "; the cluster does not settle ({MAX_CHECKS_WITHOUT_TIME} checks after writes while no time passed)"
            ),
        }
    }
}

impl Polling {
    fn new(cluster: &Cluster, deadline: Instant) -> Self {
        Self {
            reconcile_loops: cluster.shared.reconcile_loops.clone(),
            revisions: cluster.shared.backend.revisions(),
            deadline,
            last_check: Instant::now(),
            checks_without_time: 0,
        }
    }

    /// Waits until the time of the next check.
    async fn wait(&mut self) -> Result<(), WaitEnd> {
        let now = Instant::now();
        if now >= self.deadline {
            return Err(WaitEnd::TimedOut);
        }
        if let Some(found) = self.reconcile_loops.found() {
            return Err(WaitEnd::ReconcileLoop(found));
        }
        self.checks_without_time = if self.last_check == now {
            self.checks_without_time + 1
        } else {
            0
        };
        self.last_check = now;
        if self.checks_without_time >= MAX_CHECKS_WITHOUT_TIME {
            return Err(WaitEnd::Unsettled);
        }
        match &mut self.revisions {
            None => sleep_until(self.deadline.min(now + POLL_INTERVAL)).await,
            Some(revisions) => {
                let next = self.deadline.min(now + IDLE_POLL_INTERVAL);
                // A timeout is a reason to check, too.
                timeout_at(next, revisions.changed()).await.ok();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;
    use tokio::time::Instant;

    use crate::Cluster;

    async fn toggle_forever(cluster: &Cluster) {
        let mut up = false;
        loop {
            up = !up;
            let data = json!({ "data": { "up": up.to_string() } });
            cluster.patch::<ConfigMap>("flag", data).await;
        }
    }

    async fn is_flag(cluster: &Cluster, text: &str) -> bool {
        let flag = cluster.get::<ConfigMap>("flag").await;
        let data = flag.and_then(|flag| flag.data).unwrap_or_default();
        data.get("up").is_some_and(|up| up == text)
    }

    /// The message with which a wait fails while the flag changes all the time.
    async fn failure(cluster: &Cluster, wait: impl Future<Output = ()>) -> String {
        tokio::select! {
            result = AssertUnwindSafe(wait).catch_unwind() => {
                *result.unwrap_err().downcast::<String>().unwrap()
            }
            () = toggle_forever(cluster) => unreachable!("the loop has no end"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn wait_ends_although_writes_never_end() {
        let cluster = Cluster::embedded().start().await.unwrap();
        let flag = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "flag" },
        });
        let flag: ConfigMap = serde_json::from_value(flag).unwrap();
        cluster.create(flag).await;
        let start = Instant::now();
        let wait = cluster.eventually("half mast", async |c| is_flag(c, "half").await);
        let message = failure(&cluster, wait).await;
        let why = "for half mast; the cluster does not settle";
        assert!(message.contains(why), "{message}");
        assert!(message.contains("last seen: ConfigMap"), "{message}");

        let hour = Duration::from_secs(3600);
        let wait = cluster.consistently(hour, "no mourning", async |c| !is_flag(c, "half").await);
        let message = failure(&cluster, wait).await;
        let why = "no mourning: not known; the cluster does not settle";
        assert!(message.contains(why), "{message}");
        assert_eq!(start.elapsed(), Duration::ZERO);
        cluster.close().await.unwrap();
    }
}
