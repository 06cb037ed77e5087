//! Runs several replicas of an operator.

use std::panic::Location;
use std::sync::Arc;

use kubewright::Operator;

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::webhooks::CertificateIssuer;
use crate::Error;

impl Cluster {
    /// Installs an operator as [`run`](Self::run) does and runs several replicas of it. If the
    /// operator elects a leader, one of them leads; all of them serve its webhooks in turn.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or a replica does not become ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed, and some replicas may run.
    #[track_caller]
    pub fn run_replicas<F>(&self, operator: F, replicas: usize) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        let location = Location::caller();
        async move {
            self.require_own_operator("run replicas of");
            let started = self.start_replicas(Arc::new(operator), replicas).await;
            if let Err(error) = started {
                fail(location, Chain(&error));
            }
        }
    }

    async fn start_replicas(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        replicas: usize,
    ) -> Result<(), Error> {
        let webhooks = match self.wiring(&make, CertificateIssuer::Harness).await? {
            Some(webhooks) => Some(webhooks.shared().await?),
            None => None,
        };
        let first = self.install_wired(make, webhooks).await?;
        let others: Vec<_> = (1..replicas).map(|number| first.replica(number)).collect();
        for under_test in std::iter::once(first).chain(others) {
            self.run_installed(under_test).await?;
        }
        Ok(())
    }

    /// Ends one replica immediately, with work in flight. The first has number 0.
    /// [`restart_operator`](Self::restart_operator) starts it again.
    pub fn kill_replica(&self, number: usize) {
        self.require_own_operator("kill");
        for under_test in &mut *self.shared.operators.lock() {
            under_test.kill_replica(number);
        }
    }

    /// Stops one replica gracefully, as a Pod is stopped: it gets no new webhook connections, then
    /// it is stopped. The first has number 0.
    /// [`restart_operator`](Self::restart_operator) starts it again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the replica ends immediately.
    pub async fn stop_replica(&self, number: usize) {
        self.require_own_operator("stop");
        let stopping: Vec<_> = {
            let mut operators = self.shared.operators.lock();
            let replicas = operators.iter_mut();
            replicas
                .filter_map(|under_test| under_test.unregister_replica(number))
                .collect()
        };
        for running in stopping {
            running.stop().await;
        }
    }
}
