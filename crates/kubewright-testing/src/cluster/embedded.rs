//! The embedded cluster of one test.

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
use super::forbidden::ForbiddenRequests;
use super::inert_kinds::InertKinds;
use crate::Error;
use crate::faults::FaultLayer;
use crate::real::{AuthorizerAddress, Components};

/// A cluster in this process, and its tasks.
#[derive(Debug)]
pub(super) struct Embedded {
    cluster: Cluster,
    clock: Clock,
    components: Components,
    creates_accounts: bool,
    /// When dropped, the tasks end.
    cancel: DropGuard,
    tasks: TaskTracker,
    /// The address for other programs, opened at the first use.
    address: Mutex<Option<Address>>,
    /// The kinds that clients wrote and that no controller acts on.
    inert_kinds: InertKinds,
}

/// A server with the initial objects. Each cluster is a fork of it, which is faster than a new one.
static INITIAL: OnceLock<Server> = OnceLock::new();

/// The first time of the virtual clock: tests read the same dates on every run.
const START_TIME: &str = "2026-01-01T00:00:00Z";

impl Embedded {
    /// Starts a cluster on the current runtime. It always has all components; a test requests those
    /// that it uses, so that it also passes on a real cluster.
    pub(super) fn start(
        components: Components,
        authorizer: Option<&AuthorizerAddress>,
        controllers: Controllers,
    ) -> Self {
        let creates_accounts = controllers == Controllers::all();
        let clock = Clock::starting_at(Self::start_time());
        let initial = INITIAL.get_or_init(|| {
            Server::new(ServerOptions {
                clock: clock.clone(),
                ..ServerOptions::default()
            })
        });
        let server = initial.fork_with(ServerOptions {
            clock: clock.clone(),
            authorizer: authorizer.map(|authorizer| AuthorizationWebhook {
                url: authorizer.url.clone(),
                ca_pem: authorizer.ca_pem.clone(),
                timeout: AuthorizerAddress::TIMEOUT,
                on_failure: AuthorizationFailure::NoOpinion,
                // As on a real cluster: each request is authorized anew.
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
            components,
            creates_accounts,
            cancel: cancel.drop_guard(),
            tasks,
            address: Mutex::new(None),
            inert_kinds: InertKinds::default(),
        }
    }

    /// The first time of the virtual clock.
    pub(super) fn start_time() -> Timestamp {
        START_TIME.parse().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(super) fn components(&self) -> Components {
        self.components
    }

    /// Whether a controller creates the ServiceAccount of a namespace.
    pub(super) fn creates_accounts(&self) -> bool {
        self.creates_accounts
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// The current revision, which changes with each stored write.
    pub(super) fn revisions(&self) -> watch::Receiver<Revision> {
        self.cluster.server().revisions()
    }

    /// Controls what the kubelets do with Pods.
    pub(super) fn pods(&self) -> PodControl {
        self.cluster.pods()
    }

    /// The webhook servers of this process.
    pub(super) fn webhooks(&self) -> &WebhookEndpoints {
        self.cluster.server().webhooks()
    }

    pub(super) fn client(
        &self,
        user: &User,
        namespace: &str,
        forbidden: &ForbiddenRequests,
        fault_layer: &FaultLayer,
    ) -> Client {
        let service = self
            .inert_kinds
            .layer(self.cluster.server().service(user.clone()));
        Client::new(fault_layer.layer(forbidden.layer(service)), namespace)
    }

    /// The kinds that clients wrote and that no controller acts on.
    pub(super) fn inert_kinds(&self) -> &InertKinds {
        &self.inert_kinds
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

    /// Stops the tasks of the cluster.
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
    use crate::real::Components;

    #[tokio::test(start_paused = true)]
    async fn tasks_end_when_the_cluster_is_dropped() {
        let cluster = Embedded::start(Components::ApiServer, None, Controllers::all());
        let tasks = cluster.tasks.clone();
        tasks.close();
        let ended = timeout(Duration::from_secs(60), tasks.wait());
        assert!(ended.await.is_err(), "a task ended before the drop");
        drop(cluster);
        let ended = timeout(Duration::from_secs(60), tasks.wait());
        assert!(ended.await.is_ok(), "a task still runs");
    }
}
