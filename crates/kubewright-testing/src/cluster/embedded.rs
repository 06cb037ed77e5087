use jiff::Timestamp;
use kube::Client;
use kubewright_apiserver::{Server, ServerOptions, User};
use kubewright_core::{Clock, Revision};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer as _;

use super::refusals::Refusals;

/// A cluster in this process, and the tasks that make it live.
#[derive(Debug)]
pub(super) struct Embedded {
    server: Server,
    clock: Clock,
    cancel: CancellationToken,
    tasks: TaskTracker,
}

/// When time begins on an embedded cluster: tests read the same dates on every run.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

impl Embedded {
    /// A new cluster that lives on the present runtime.
    pub(super) fn start() -> Self {
        let beginning: Timestamp = BEGINNING.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let clock = Clock::starting_at(beginning);
        let server = Server::new(ServerOptions {
            clock: clock.clone(),
            ..ServerOptions::default()
        });
        let cancel = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (running, stop) = (server.clone(), cancel.clone());
        tasks.spawn(async move { running.run(stop).await });
        Self {
            server,
            clock,
            cancel,
            tasks,
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Changes at each stored write.
    pub(super) fn revisions(&self) -> watch::Receiver<Revision> {
        self.server.revisions()
    }

    pub(super) fn client(&self, user: &User, namespace: &str, refusals: &Refusals) -> Client {
        Client::new(refusals.layer(self.server.service(user.clone())), namespace)
    }

    /// Ends what the cluster does by itself.
    pub(super) async fn stop(&self) {
        self.cancel.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
