use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::Result;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LAST_DELAY: Duration = Duration::from_secs(60);

/// What a task of the user's own works with.
#[derive(Clone)]
pub struct TaskContext {
    client: Client,
    stop: CancellationToken,
}

impl TaskContext {
    pub(super) fn new(client: Client, stop: CancellationToken) -> Self {
        Self { client, stop }
    }

    /// A client, held to the operator's role.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns when the operator stops; the task should then return soon.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
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
    call: Box<dyn Fn(TaskContext) -> BoxFuture<'static, Result<()>> + Send + Sync>,
}

impl Task {
    pub(super) fn new<F, Fut>(name: String, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        Self {
            name,
            call: Box::new(move |cx| Box::pin(task(cx))),
        }
    }

    /// Calls the task until it returns well or the operator stops.
    pub(super) async fn supervise(self, cx: TaskContext) {
        let mut delay = FIRST_DELAY;
        loop {
            let attempt = async { (self.call)(cx.clone()).await };
            match AssertUnwindSafe(attempt).catch_unwind().await {
                Ok(Ok(())) => return,
                Ok(Err(failure)) => {
                    tracing::error!(task = self.name, ?delay, "the task failed: {failure}");
                }
                Err(_) => tracing::error!(task = self.name, ?delay, "the task panicked"),
            }
            tokio::select! {
                () = cx.stopping() => return,
                () = tokio::time::sleep(delay) => delay = (delay * 2).min(LAST_DELAY),
            }
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
    use tokio_util::sync::CancellationToken;

    use super::{Task, TaskContext};

    fn context() -> TaskContext {
        let nowhere = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        });
        TaskContext::new(Client::new(nowhere, "default"), CancellationToken::new())
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_fails_or_panics_is_called_again_later() {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let task = Task::new("flaky".to_owned(), move |_| {
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
        task.supervise(context()).await;
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }
}
