use std::panic::Location;
use std::sync::Arc;

use kubewright::Operator;

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::webhooks::CertificateMaker;
use crate::Error;

impl Cluster {
    /// Installs an operator as [`run`](Self::run) does and runs several replicas of it: one of
    /// them leads where it elects a leader, and all serve its webhooks, taking turns.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or one does not get ready.
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
            self.needs_own_operator("run replicas of");
            let started = self.run_shared(Arc::new(operator), replicas).await;
            if let Err(error) = started {
                fail(location, Chain(&error));
            }
        }
    }

    async fn run_shared(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        replicas: usize,
    ) -> Result<(), Error> {
        let webhooks = match self.wiring(&make, CertificateMaker::Kit).await? {
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

    /// Ends one replica at once, in the middle of what it does: the first has number 0.
    /// [`restart_operator`](Self::restart_operator) starts it again.
    pub fn kill_replica(&self, number: usize) {
        self.needs_own_operator("kill");
        for under_test in &mut *self.shared.operators.lock() {
            under_test.kill(number);
        }
    }

    /// Ends one replica in order, as a Pod is: it is asked no more, and told to end. The first has
    /// number 0.
    /// [`restart_operator`](Self::restart_operator) starts it again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, it ends at once.
    pub async fn stop_replica(&self, number: usize) {
        self.needs_own_operator("stop");
        let running: Vec<_> = {
            let mut operators = self.shared.operators.lock();
            let ending = operators.iter_mut().filter_map(|one| one.leave(number));
            ending.collect()
        };
        for running in running {
            running.stop().await;
        }
    }
}
