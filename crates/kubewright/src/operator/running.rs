//! [`Running`]: a started operator.

use std::sync::Arc;
use std::time::Duration;

use kubewright_runtime::controller::Handle;
use kubewright_runtime::election::Leadership;
use kubewright_runtime::informer::Informers;
use tokio::time::Instant;

use super::component::Component;
use super::task_group::TaskGroup;
use crate::endpoint::Probes;
use crate::permissions::Permissions;

/// The minimum time for the release of the Lease: the work has ended by then, and other copies wait
/// for it.
const RELEASE_TIME: Duration = Duration::from_secs(2);

/// The minimum time for requests to webhooks that are in flight: a controller that takes the whole
/// grace period must not make requests of other clients fail.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// A started operator. If it is dropped, everything ends at once.
#[derive(Debug)]
pub struct Running {
    /// Controllers, tasks and the writer of events.
    pub(super) work: TaskGroup,
    /// Ends after all work, so that the Lease is released only then.
    pub(super) election: TaskGroup,
    pub(super) webhooks: TaskGroup,
    /// Probes and metrics, which end last.
    pub(super) servers: TaskGroup,
    pub(super) informers: Informers,
    pub(super) leadership: Leadership,
    pub(super) permissions: Permissions,
    /// The components that [`Running::ready`] waits for.
    pub(super) components: Vec<Component>,
    pub(super) controllers: Vec<Handle>,
    pub(super) probes: Arc<Probes>,
    pub(super) grace: Duration,
}

impl Running {
    /// Waits until all caches are filled, all controllers have started and webhooks are served.
    /// Does not wait for leadership.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect; call it again to continue waiting.
    pub async fn ready(&self) {
        for component in &self.components {
            component.started().await;
        }
    }

    /// Returns the failing checks of `/readyz`, each with its reason.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn problems(&self) -> Vec<String> {
        self.probes.readyz.problems().await
    }

    /// Returns the controllers in the order of their registration, with their counts and queues.
    pub fn controllers(&self) -> &[Handle] {
        &self.controllers
    }

    /// Returns the leadership of this copy, which always leads if no leader is elected.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    /// Returns the permissions of the operator, which record denied requests.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Stops the operator: controllers and tasks first, then the Lease is released, then webhooks,
    /// caches, probes and metrics. Running work has the grace period to end and is then cancelled.
    /// The release of the Lease has at least two seconds, and requests to webhooks at least five.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, everything ends at once.
    pub async fn stop(mut self) {
        let deadline = Instant::now() + self.grace;
        self.work.end(deadline).await;
        let released_by = deadline.max(Instant::now() + RELEASE_TIME);
        self.election.end(released_by).await;
        let drained_by = deadline.max(Instant::now() + DRAIN_TIME);
        self.webhooks.end(drained_by).await;
        self.informers.shutdown().await;
        self.servers.end(deadline).await;
    }
}
