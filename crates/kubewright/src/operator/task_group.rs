//! A group of tasks that are stopped together.

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// A group of tasks that are stopped together.
#[derive(Debug)]
pub(super) struct TaskGroup {
    name: &'static str,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl TaskGroup {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            stop: CancellationToken::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Returns the token that is cancelled to stop the group.
    pub(super) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Stops the group, waits for its tasks until `deadline`, and cancels the rest.
    pub(super) async fn end(&mut self, deadline: Instant) {
        self.stop.cancel();
        let start = Instant::now();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout_at(deadline, all).await.is_err() {
            let waited = start.elapsed();
            tracing::warn!(?waited, "{} did not end in time", self.name);
        }
        self.tasks.shutdown().await;
    }
}
