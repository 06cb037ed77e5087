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

/// How often a real cluster is looked at.
const POLL: Duration = Duration::from_millis(50);
/// How often an embedded cluster is looked at when it stores nothing: the test may wait for what
/// is not in the cluster.
const IDLE_POLL: Duration = Duration::from_secs(1);
/// How long a look may take that begins when time is up, so that the state at the end counts.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// How often an embedded cluster is looked at while no time passes. Virtual time passes when
/// nothing is to be done: without a bound, writes that never end would be waited for for ever.
/// What is tested here is that there is one.
const RESTLESS: u32 = if cfg!(test) { 100 } else { 10_000 };

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
        self.eventually_within(self.shared.timeout, what, check)
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
        timeout: Duration,
        what: impl Display,
        check: F,
    ) -> impl Future<Output = ()>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let location = Location::caller();
        async move {
            let start = Instant::now();
            let mut looks = Looks::new(self, start + timeout);
            let why = loop {
                match self.look(start + timeout, &check).await {
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(ended) => break format!("; the check did not answer{ended}"),
                }
                if let Err(ended) = looks.wait().await {
                    break ended.to_string();
                }
            };
            let (waited, seen) = (start.elapsed(), self.seen());
            let unmoved = match self.unmoved() {
                none if none.is_empty() => none,
                some => format!("; {some}"),
            };
            fail(
                location,
                format_args!("waited {waited:?} for {what}{why}; last seen: {seen}{unmoved}"),
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
            let why = loop {
                // The last look may begin just before the end.
                let answer_by = Instant::now() + self.shared.timeout;
                match self.look(answer_by, &check).await {
                    Ok(true) => {}
                    Ok(false) => break "not so".to_owned(),
                    Err(ended) => break format!("the check did not answer{ended}"),
                }
                match looks.wait().await {
                    Ok(()) => {}
                    Err(Ended::TimeUp) => return,
                    Err(ended) => break format!("not known{ended}"),
                }
            };
            let (waited, seen) = (start.elapsed(), self.seen());
            fail(
                location,
                format_args!("{what}: {why} after {waited:?}; seen: {seen}"),
            );
        }
    }

    /// As [`eventually`](Self::eventually), for the kit's own waits, which can fail; the check
    /// answers what is still missing.
    pub(super) async fn until(
        &self,
        what: &str,
        check: impl AsyncFn() -> Result<Option<String>, Error>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let deadline = start + self.shared.timeout;
        let mut looks = Looks::new(self, deadline);
        let mut last = "no answer".to_owned();
        let ended = loop {
            match self.within(deadline, check()).await {
                Ok(answer) => match answer? {
                    None => return Ok(()),
                    Some(missing) => last = missing,
                },
                Err(ended) => break ended,
            }
            if let Err(ended) = looks.wait().await {
                break ended;
            }
        };
        Err(Error::Waited {
            what: what.to_owned(),
            waited: start.elapsed(),
            last: format!("{last}{ended}"),
        })
    }

    /// Waits for `work`, for as long as it is worth waiting.
    pub(super) async fn within<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, Ended> {
        let mut looks = Looks::new(self, deadline);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                result = &mut work => return Ok(result),
                waited = looks.wait() => waited?,
            }
        }
    }

    async fn look<F>(&self, deadline: Instant, check: &F) -> Result<bool, Ended>
    where
        F: AsyncFn(&Self) -> bool,
    {
        let deadline = deadline.max(Instant::now() + LAST_LOOK);
        let before = std::mem::take(&mut *self.shared.seen.lock());
        let answer = self.within(deadline, check(self)).await;
        let mut seen = self.shared.seen.lock();
        if answer.is_err() && seen.is_empty() {
            *seen = before;
        }
        answer
    }

    /// Which of the kinds that were written nothing acts on here, in a sentence; empty when there
    /// are none.
    pub(crate) fn unmoved(&self) -> String {
        let unmoved = self.shared.backend.unmoved();
        unmoved.map(ToString::to_string).unwrap_or_default()
    }

    /// Waits until a reconcile of an operator under test is found that triggers itself; why the test
    /// fails then.
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

/// When to look again.
struct Looks {
    reconcile_loops: ReconcileLoops,
    revisions: Option<tokio::sync::watch::Receiver<kubewright_core::Revision>>,
    deadline: Instant,
    /// The time of the last look, and how many there were at that very time.
    last: (Instant, u32),
}

/// Why it is not worth waiting any longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    TimeUp,
    Restless,
    ReconcileLoop(Arc<ReconcileLoop>),
}

/// As the end of a sentence.
impl Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeUp => Ok(()),
            Self::ReconcileLoop(found) => write!(f, "; {found}"),
            Self::Restless => write!(
                f,
                "; the cluster does not come to rest ({RESTLESS} looks at writes while no time passed)"
            ),
        }
    }
}

impl Looks {
    fn new(cluster: &Cluster, deadline: Instant) -> Self {
        Self {
            reconcile_loops: cluster.shared.reconcile_loops.clone(),
            revisions: cluster.shared.backend.revisions(),
            deadline,
            last: (Instant::now(), 0),
        }
    }

    /// Waits until it is worth looking again.
    async fn wait(&mut self) -> Result<(), Ended> {
        let now = Instant::now();
        if now >= self.deadline {
            return Err(Ended::TimeUp);
        }
        if let Some(found) = self.reconcile_loops.found() {
            return Err(Ended::ReconcileLoop(found));
        }
        let (time, looks) = self.last;
        self.last = (now, if time == now { looks + 1 } else { 0 });
        if self.last.1 >= RESTLESS {
            return Err(Ended::Restless);
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

    async fn flap(cluster: &Cluster) {
        let mut up = false;
        loop {
            up = !up;
            let data = json!({ "data": { "up": up.to_string() } });
            cluster.patch::<ConfigMap>("flag", data).await;
        }
    }

    async fn is(cluster: &Cluster, text: &str) -> bool {
        let flag = cluster.get::<ConfigMap>("flag").await;
        let data = flag.and_then(|flag| flag.data).unwrap_or_default();
        data.get("up").is_some_and(|up| up == text)
    }

    /// How a wait fails while the flag flaps.
    async fn failure(cluster: &Cluster, wait: impl Future<Output = ()>) -> String {
        tokio::select! {
            result = AssertUnwindSafe(wait).catch_unwind() => {
                *result.unwrap_err().downcast::<String>().unwrap()
            }
            () = flap(cluster) => unreachable!("it goes on for ever"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn writes_that_never_end_do_not_hold_a_wait_for_ever() {
        let cluster = Cluster::embedded().start().await.unwrap();
        let flag = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "flag" },
        });
        let flag: ConfigMap = serde_json::from_value(flag).unwrap();
        cluster.create(flag).await;
        let start = Instant::now();
        let wait = cluster.eventually("half mast", async |c| is(c, "half").await);
        let message = failure(&cluster, wait).await;
        let why = "for half mast; the cluster does not come to rest";
        assert!(message.contains(why), "{message}");
        assert!(message.contains("last seen: ConfigMap"), "{message}");

        let hour = Duration::from_secs(3600);
        let wait = cluster.consistently(hour, "no mourning", async |c| !is(c, "half").await);
        let message = failure(&cluster, wait).await;
        let why = "no mourning: not known; the cluster does not come to rest";
        assert!(message.contains(why), "{message}");
        assert_eq!(start.elapsed(), Duration::ZERO);
        cluster.close().await.unwrap();
    }
}
