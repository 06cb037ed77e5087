//! Tasks of the user, which are restarted when they fail.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kube::Client;
use kubewright_runtime::election::Leadership;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::component::{Component, ComponentState};
use crate::Result;
use crate::controller::Environment;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LAST_DELAY: Duration = Duration::from_secs(60);
/// After a run of this length, the delay starts at the first one again.
const STABLE: Duration = Duration::from_secs(120);

/// The context of a task.
#[derive(Clone)]
pub struct TaskContext {
    client: Client,
    leader: Client,
    leadership: Leadership,
    stop: CancellationToken,
}

impl TaskContext {
    pub(super) fn new(environment: &Environment, stop: CancellationToken) -> Self {
        Self {
            client: environment.unfenced.clone(),
            leader: environment.client.clone(),
            leadership: environment.leadership.clone(),
            stop,
        }
    }

    /// Returns a client, limited to the operator's role. In a task of the leader, its writes fail
    /// once another copy leads.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether this copy leads; always true if no leader is elected.
    pub fn is_leading(&self) -> bool {
        self.leadership.is_leading()
    }

    /// Waits until the operator stops. The task should then return soon.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
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

/// A task of the user, which can be called again.
pub(super) struct Task {
    name: String,
    replicas: TaskReplicas,
    call: Box<dyn Fn(TaskContext) -> BoxFuture<'static, Result<()>> + Send + Sync>,
}

/// The copies of the operator that a task runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskReplicas {
    Every,
    Leader,
}

/// The result of a call.
enum CallResult {
    Completed,
    Failed(String),
    /// The leadership of this copy ended.
    LostLeadership,
    Stopped,
}

impl Task {
    pub(super) fn new<F, Fut>(name: String, replicas: TaskReplicas, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        Self {
            name,
            replicas,
            call: Box::new(move |cx| Box::pin(task(cx))),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Calls the task until it returns `Ok` or the operator stops, and updates the component's
    /// state.
    pub(super) async fn supervise(self, cx: TaskContext, component: Component) {
        let mut delay = FIRST_DELAY;
        loop {
            component.set_state(ComponentState::Running);
            let start = Instant::now();
            let why = match self.attempt(&cx).await {
                CallResult::Completed => return component.set_state(ComponentState::Completed),
                CallResult::Stopped => return,
                CallResult::LostLeadership => continue,
                CallResult::Failed(why) => why,
            };
            if start.elapsed() >= STABLE {
                delay = FIRST_DELAY;
            }
            tracing::error!(task = self.name, ?delay, "{why}");
            component.set_state(ComponentState::Failing(why));
            tokio::select! {
                () = cx.stopping() => return,
                () = tokio::time::sleep(delay) => delay = (delay * 2).min(LAST_DELAY),
            }
        }
    }

    async fn attempt(&self, cx: &TaskContext) -> CallResult {
        match self.replicas {
            TaskReplicas::Every => self.call(cx.clone()).await,
            TaskReplicas::Leader => {
                let gained = cx.leadership.gained();
                let Some(term) = cx.stop.run_until_cancelled(gained).await else {
                    return CallResult::Stopped;
                };
                tokio::select! {
                    biased;
                    () = cx.leadership.lost(term) => CallResult::LostLeadership,
                    result = self.call(cx.as_leader()) => result,
                }
            }
        }
    }

    async fn call(&self, cx: TaskContext) -> CallResult {
        let call = async { (self.call)(cx).await };
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(Ok(())) => CallResult::Completed,
            Ok(Err(failure)) => CallResult::Failed(format!("the task failed: {failure}")),
            Err(_) => CallResult::Failed("the task panicked".to_owned()),
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

    use super::{Component, Task, TaskContext, TaskReplicas};

    fn context() -> TaskContext {
        let empty = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        let client = Client::new(empty, "default");
        TaskContext {
            client: client.clone(),
            leader: client,
            leadership: Leadership::without_election(),
            stop: CancellationToken::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn task_that_fails_or_panics_is_called_again_after_a_delay() {
        let calls = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&calls);
        let task = Task::new("flaky".to_owned(), TaskReplicas::Every, move |_| {
            let call = counter.fetch_add(1, Ordering::Relaxed);
            async move {
                match call {
                    0 => Err("no".into()),
                    1 => panic!("worse"),
                    _ => Ok(()),
                }
            }
        });
        let start = tokio::time::Instant::now();
        task.supervise(context(), Component::new("task-flaky"))
            .await;
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn failing_task_is_not_ready_until_it_runs_again() {
        let calls = AtomicU32::new(0);
        let task = Task::new("flaky".to_owned(), TaskReplicas::Leader, move |cx| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            async move {
                (call > 0).then_some(()).ok_or("no")?;
                cx.stopping().await;
                Ok(())
            }
        });
        let (cx, component) = (context(), Component::new("task-flaky"));
        let supervised = task.supervise(cx.clone(), component.clone());
        let observe = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert_eq!(component.problem().as_deref(), Some("the task failed: no"));
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(component.problem(), None);
            cx.stop.cancel();
        };
        tokio::join!(supervised, observe);
    }
}
