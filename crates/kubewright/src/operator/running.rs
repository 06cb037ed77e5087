use std::sync::Arc;
use std::time::Duration;

use kubewright_core::Clock;
use kubewright_runtime::client::{ClientLimits, Transport};
use kubewright_runtime::controller::Handle;
use kubewright_runtime::election::Leadership;
use kubewright_runtime::informer::Informers;
use kubewright_webhook::Incoming;
use tokio::time::Instant;

use super::group::Group;
use super::part::Part;
use crate::Error;
use crate::endpoint::{MetricsServing, Probes};
use crate::permission::Permissions;
use crate::webhook::WebhookServing;

/// The least time that giving the Lease back may take: the work has ended then, and others wait.
const RELEASE: Duration = Duration::from_secs(2);

/// The least time that webhooks have for the questions under way: a controller that takes the whole
/// grace period must not make requests of others fail.
const DRAIN: Duration = Duration::from_secs(5);

/// What runs of one operator may differ in.
#[derive(Debug)]
pub struct RunOptions {
    /// Where the time of day comes from.
    pub clock: Clock,
    /// How long running work may take to end once the operator stops.
    pub grace: Duration,
    /// Where webhooks are served; none serves none.
    pub webhooks: Option<WebhookServing>,
    /// Who this copy is in the election of a leader; none works without one, as if alone.
    pub election: Option<ElectionOptions>,
    /// Where `/healthz` and `/readyz` are answered; none answers none.
    pub probes: Option<Incoming>,
    /// Where `/metrics` is answered; none answers none.
    pub metrics: Option<MetricsServing>,
    /// Rate limit, retries and timeout of the operator's clients. The operator retries by itself, so
    /// the default retries nothing.
    pub limits: ClientLimits,
    /// The API server's address, for metrics.
    pub host: String,
    /// Where the operator itself runs; without it `NAME-system`, where its manifests put it.
    pub namespace: Option<String>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            grace: Duration::from_secs(30),
            webhooks: None,
            election: None,
            probes: None,
            metrics: None,
            limits: ClientLimits {
                retries: 0,
                ..ClientLimits::default()
            },
            host: String::new(),
            namespace: None,
        }
    }
}

/// How one copy of an operator takes part in the election of a leader.
#[derive(Clone)]
pub struct ElectionOptions {
    /// Where the Lease is: the operator's own namespace.
    pub namespace: String,
    /// Who this copy is; none makes a name that no other has.
    pub identity: Option<String>,
    /// Connections for the election alone, so that a renewal waits behind no other request; none
    /// means those of the operator.
    pub transport: Option<Transport>,
}

impl ElectionOptions {
    /// In this namespace, under a name of its own.
    pub fn new(namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            identity: None,
            transport: None,
        }
    }
}

impl std::fmt::Debug for ElectionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ElectionOptions")
            .field("namespace", &self.namespace)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

/// An operator at work; dropped, everything ends at once.
#[derive(Debug)]
pub struct Running {
    /// Controllers, tasks and the writing of events.
    pub(super) work: Group,
    /// Ends when no work is left, so that the Lease is free only then.
    pub(super) election: Group,
    pub(super) webhooks: Group,
    /// Probes and metrics are answered to the last.
    pub(super) servers: Group,
    pub(super) informers: Informers,
    pub(super) leadership: Leadership,
    pub(super) permissions: Permissions,
    /// What [`Running::ready`] waits for.
    pub(super) parts: Vec<Part>,
    pub(super) controllers: Vec<Handle>,
    pub(super) probes: Arc<Probes>,
    pub(super) grace: Duration,
}

impl Running {
    /// Returns when every cache is filled, every controller can work and webhooks are served;
    /// which of several copies leads does not matter.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped; call it again to wait on.
    pub async fn ready(&self) {
        for part in &self.parts {
            part.started().await;
        }
    }

    /// Why `/readyz` fails: the checks that do, each with its reason.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn problems(&self) -> Vec<String> {
        self.probes.readyz.problems().await
    }

    /// The controllers, in the order of their registration: what they have done, and their queues.
    pub fn controllers(&self) -> &[Handle] {
        &self.controllers
    }

    /// Whether this copy leads; always, when no leader is elected.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    /// What the operator is held to; it tells what was refused.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Lets running work end, for at most the grace period, and ends the rest: first controllers
    /// and tasks, then the Lease is given back, then webhooks, caches, probes and metrics. Whatever
    /// the work has left of the period, the Lease has two seconds and questions to webhooks five.
    ///
    /// # Cancel safety
    ///
    /// Dropped, everything ends at once.
    pub async fn stop(mut self) {
        let deadline = Instant::now() + self.grace;
        self.work.end(deadline).await;
        let released_by = deadline.max(Instant::now() + RELEASE);
        self.election.end(released_by).await;
        let drained_by = deadline.max(Instant::now() + DRAIN);
        self.webhooks.end(drained_by).await;
        self.informers.shutdown().await;
        self.servers.end(deadline).await;
    }
}

/// A candidacy for an operator that has not registered one.
pub(super) fn not_registered(operator: &str) -> Error {
    Error::NoElection {
        operator: operator.to_owned(),
    }
}
