//! An operator under test: how it is created, and its current run.

use std::fmt;
use std::sync::Arc;

use kubewright::{Operator, Running};
use kubewright_apiserver::User;

use super::webhooks::{Registration, WebhookWiring};
use crate::faults::FaultLayer;

/// An installed operator. Each run calls `make` for a new value.
pub(super) struct OperatorUnderTest {
    pub(super) make: Arc<dyn Fn() -> Operator + Send + Sync>,
    pub(super) account: User,
    pub(super) webhooks: Option<WebhookWiring>,
    pub(super) running: Option<Running>,
    /// How the cluster finds the webhooks of the current run.
    pub(super) registration: Registration,
    /// The faults of the current run's client.
    pub(super) fault_layer: FaultLayer,
    /// The number of the replica; the first is 0.
    pub(super) number: usize,
}

impl OperatorUnderTest {
    /// An operator that is installed and does not run yet.
    pub(super) fn new(
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        account: User,
        webhooks: Option<WebhookWiring>,
    ) -> Self {
        Self {
            make,
            account,
            webhooks,
            running: None,
            registration: Registration::Fixed,
            fault_layer: FaultLayer::default(),
            number: 0,
        }
    }

    /// Another replica of the operator, which does not run yet.
    pub(super) fn replica(&self, number: usize) -> Self {
        let (make, account) = (Arc::clone(&self.make), self.account.clone());
        Self {
            number,
            ..Self::new(make, account, self.webhooks.clone())
        }
    }

    /// Ends the current run immediately, if it is that replica.
    pub(super) fn kill_replica(&mut self, number: usize) {
        if self.number == number {
            self.kill();
        }
    }

    /// Ends the current run immediately.
    pub(super) fn kill(&mut self) {
        self.registration.disconnect();
        self.running = None;
    }

    /// Takes the current run, if it is that replica; its webhooks get no new connections.
    pub(super) fn unregister_replica(&mut self, number: usize) -> Option<Running> {
        let running = self.running.take_if(|_| self.number == number)?;
        std::mem::take(&mut self.registration).unregister();
        Some(running)
    }

    /// Stops the current run gracefully, unless it has crashed.
    pub(super) async fn stop(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        if self.fault_layer.has_crashed() {
            drop(running);
        } else {
            running.stop().await;
        }
    }
}

impl fmt::Debug for OperatorUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorUnderTest")
            .field("account", &self.account.name)
            .finish_non_exhaustive()
    }
}
