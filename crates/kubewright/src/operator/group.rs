use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Tasks that are stopped together, before or after others.
#[derive(Debug)]
pub(super) struct Group {
    what: &'static str,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Group {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            stop: CancellationToken::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Cancelled when the group is to end.
    pub(super) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Lets the tasks end until `deadline`, and ends the rest.
    pub(super) async fn end(&mut self, deadline: Instant) {
        self.stop.cancel();
        let began = Instant::now();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout_at(deadline, all).await.is_err() {
            let waited: Duration = began.elapsed();
            tracing::warn!(?waited, "{} did not end in time", self.what);
        }
        self.tasks.shutdown().await;
    }
}
