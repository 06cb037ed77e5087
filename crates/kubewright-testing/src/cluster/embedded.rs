use std::path::PathBuf;
use std::sync::OnceLock;

use jiff::Timestamp;
use kube::Client;
use kubewright_apiserver::{
    AuthorizationFailure, AuthorizationWebhook, CacheTtl, Server, ServerOptions, User,
    WebhookEndpoints,
};
use kubewright_cluster::{Cluster, Controllers, PodControl};
use kubewright_core::{Clock, Revision};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tower::Layer as _;

use super::address::Address;
use super::refusals::Refusals;
use super::unmoved::Unmoved;
use crate::Error;
use crate::faults::Door;
use crate::real::{AuthorizerAddress, Parts};

/// A cluster in this process, and the tasks that make it live.
#[derive(Debug)]
pub(super) struct Embedded {
    cluster: Cluster,
    clock: Clock,
    parts: Parts,
    makes_accounts: bool,
    /// Dropped, the tasks end too.
    cancel: DropGuard,
    tasks: TaskTracker,
    /// Where others reach it, once somebody asked.
    address: Mutex<Option<Address>>,
    /// What its clients wrote that nothing acts on.
    unmoved: Unmoved,
}

/// What every cluster has from its start, made once: a new cluster is a fork of it.
static FRESH: OnceLock<Server> = OnceLock::new();

/// When time begins on an embedded cluster: tests read the same dates on every run.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

impl Embedded {
    /// A new cluster that lives on the present runtime. All parts are in it; a test asks for those
    /// that it uses, so that it says the same on a real cluster.
    pub(super) fn start(
        parts: Parts,
        authorizer: Option<&AuthorizerAddress>,
        controllers: Controllers,
    ) -> Self {
        let makes_accounts = controllers == Controllers::all();
        let clock = Clock::starting_at(Self::beginning());
        let fresh = FRESH.get_or_init(|| {
            Server::new(ServerOptions {
                clock: clock.clone(),
                ..ServerOptions::default()
            })
        });
        let server = fresh.fork_with(ServerOptions {
            clock: clock.clone(),
            authorizer: authorizer.map(|authorizer| AuthorizationWebhook {
                url: authorizer.url.clone(),
                ca_pem: authorizer.ca_pem.clone(),
                timeout: AuthorizerAddress::TIMEOUT,
                on_failure: AuthorizationFailure::NoOpinion,
                // As the real one is told, so that a test sees what it changes.
                ttl: CacheTtl::NONE,
            }),
            ..ServerOptions::default()
        });
        let cancel = CancellationToken::new();
        let tasks = TaskTracker::new();
        let cluster = Cluster::new(server);
        let (running, stop) = (cluster.clone(), cancel.clone());
        tasks.spawn(async move { running.run(&controllers, stop).await });
        Self {
            cluster,
            clock,
            parts,
            makes_accounts,
            cancel: cancel.drop_guard(),
            tasks,
            address: Mutex::new(None),
            unmoved: Unmoved::default(),
        }
    }

    /// When time begins.
    pub(super) fn beginning() -> Timestamp {
        BEGINNING.parse().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(super) fn parts(&self) -> Parts {
        self.parts
    }

    /// Whether each namespace gets its account.
    pub(super) fn makes_accounts(&self) -> bool {
        self.makes_accounts
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Changes at each stored write.
    pub(super) fn revisions(&self) -> watch::Receiver<Revision> {
        self.cluster.server().revisions()
    }

    /// What decides the fate of Pods.
    pub(super) fn pods(&self) -> PodControl {
        self.cluster.pods()
    }

    /// Webhook servers of this process.
    pub(super) fn webhooks(&self) -> &WebhookEndpoints {
        self.cluster.server().webhooks()
    }

    pub(super) fn client(
        &self,
        user: &User,
        namespace: &str,
        refusals: &Refusals,
        door: &Door,
    ) -> Client {
        let service = self
            .unmoved
            .layer(self.cluster.server().service(user.clone()));
        Client::new(door.layer(refusals.layer(service)), namespace)
    }

    /// What was written to it that nothing acts on.
    pub(super) fn unmoved(&self) -> &Unmoved {
        &self.unmoved
    }

    /// A kubeconfig file for other programs; the first call opens a port.
    pub(super) fn kubeconfig(&self) -> Result<PathBuf, Error> {
        let mut address = self.address.lock();
        if let Some(address) = &*address {
            return Ok(address.kubeconfig());
        }
        let opened = Address::open(self.cluster.server(), &self.tasks, self.cancel.token())?;
        Ok(address.insert(opened).kubeconfig())
    }

    /// Ends what the cluster does by itself.
    pub(super) async fn stop(&self) {
        self.cancel.token().cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{Controllers, Embedded};
    use crate::real::Parts;

    #[tokio::test(start_paused = true)]
    async fn a_cluster_that_is_dropped_leaves_no_task() {
        let cluster = Embedded::start(Parts::ApiServer, None, Controllers::all());
        let tasks = cluster.tasks.clone();
        tasks.close();
        let ended = timeout(Duration::from_secs(60), tasks.wait());
        assert!(ended.await.is_err(), "it runs while it is held");
        drop(cluster);
        let ended = timeout(Duration::from_secs(60), tasks.wait());
        assert!(ended.await.is_ok(), "it still runs");
    }
}
