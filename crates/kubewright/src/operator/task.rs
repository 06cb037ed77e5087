use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kube::Client;
use kubewright_runtime::election::Leadership;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::part::{Part, Phase};
use crate::Result;
use crate::controller::Parts;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LAST_DELAY: Duration = Duration::from_secs(60);
/// One that has worked for so long begins with the first delay again.
const WORKED: Duration = Duration::from_secs(120);

/// What a task of the user's own works with.
#[derive(Clone)]
pub struct TaskContext {
    client: Client,
    leader: Client,
    leadership: Leadership,
    stop: CancellationToken,
}

impl TaskContext {
    pub(super) fn new(parts: &Parts, stop: CancellationToken) -> Self {
        Self {
            client: parts.unfenced.clone(),
            leader: parts.client.clone(),
            leadership: parts.leadership.clone(),
            stop,
        }
    }

    /// A client, held to the operator's role. In a task of the leader it writes only while this
    /// copy leads.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether this copy leads; always, when no leader is elected.
    pub fn is_leading(&self) -> bool {
        self.leadership.is_leading()
    }

    /// Returns when the operator stops; the task should then return soon.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    fn as_leader(&self) -> Self {
        Self {
            client: self.leader.clone(),
            ..self.clone()
        }
    }
}

impl fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskContext").finish_non_exhaustive()
    }
}

/// A task of the user's own, which can be called again.
pub(super) struct Task {
    name: String,
    place: Place,
    call: Box<dyn Fn(TaskContext) -> BoxFuture<'static, Result<()>> + Send + Sync>,
}

/// On which copies of the operator a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Everywhere,
    Leader,
}

/// How a call has ended.
enum End {
    Well,
    Badly(String),
    /// This copy leads no more.
    Deposed,
    Stopped,
}

impl Task {
    pub(super) fn new<F, Fut>(name: String, place: Place, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        Self {
            name,
            place,
            call: Box::new(move |cx| Box::pin(task(cx))),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Calls the task until it returns well or the operator stops; `part` tells how it goes.
    pub(super) async fn supervise(self, cx: TaskContext, part: Part) {
        let mut delay = FIRST_DELAY;
        loop {
            part.enter(Phase::Working);
            let began = Instant::now();
            let why = match self.attempt(&cx).await {
                End::Well => return part.enter(Phase::Ended),
                End::Stopped => return,
                End::Deposed => continue,
                End::Badly(why) => why,
            };
            if began.elapsed() >= WORKED {
                delay = FIRST_DELAY;
            }
            tracing::error!(task = self.name, ?delay, "{why}");
            part.enter(Phase::Failing(why));
            tokio::select! {
                () = cx.stopping() => return,
                () = tokio::time::sleep(delay) => delay = (delay * 2).min(LAST_DELAY),
            }
        }
    }

    async fn attempt(&self, cx: &TaskContext) -> End {
        match self.place {
            Place::Everywhere => self.call(cx.clone()).await,
            Place::Leader => {
                let gained = cx.leadership.gained();
                let Some(term) = cx.stop.run_until_cancelled(gained).await else {
                    return End::Stopped;
                };
                tokio::select! {
                    biased;
                    () = cx.leadership.lost(term) => End::Deposed,
                    end = self.call(cx.as_leader()) => end,
                }
            }
        }
    }

    async fn call(&self, cx: TaskContext) -> End {
        let call = async { (self.call)(cx).await };
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(Ok(())) => End::Well,
            Ok(Err(failure)) => End::Badly(format!("the task failed: {failure}")),
            Err(_) => End::Badly("the task panicked".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use kubewright_runtime::election::Leadership;
    use tokio_util::sync::CancellationToken;

    use super::{Part, Place, Task, TaskContext};

    fn context() -> TaskContext {
        let nowhere = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        let client = Client::new(nowhere, "default");
        TaskContext {
            client: client.clone(),
            leader: client,
            leadership: Leadership::without_election(),
            stop: CancellationToken::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_fails_or_panics_is_called_again_later() {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let task = Task::new("flaky".to_owned(), Place::Everywhere, move |_| {
            let call = counted.fetch_add(1, Ordering::Relaxed);
            async move {
                match call {
                    0 => Err("no".into()),
                    1 => panic!("worse"),
                    _ => Ok(()),
                }
            }
        });
        let start = tokio::time::Instant::now();
        task.supervise(context(), Part::new("task-flaky")).await;
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_fails_is_a_problem_until_it_works_again() {
        let calls = AtomicU32::new(0);
        let task = Task::new("flaky".to_owned(), Place::Leader, move |cx| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            async move {
                (call > 0).then_some(()).ok_or("no")?;
                cx.stopping().await;
                Ok(())
            }
        });
        let (cx, part) = (context(), Part::new("task-flaky"));
        let supervised = task.supervise(cx.clone(), part.clone());
        let watched = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert_eq!(part.problem().as_deref(), Some("the task failed: no"));
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(part.problem(), None);
            cx.stop.cancel();
        };
        tokio::join!(supervised, watched);
    }
}
