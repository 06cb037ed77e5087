//! Runs an operator on the cluster of a test: install, run, restart, stop, kill.

use std::panic::Location;
use std::sync::Arc;

use kubewright::election::ElectionOptions;
use kubewright::{Operator, RunOptions};
use kubewright_apiserver::User;
use tokio::time::Instant;

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::operator_under_test::OperatorUnderTest;
use super::permissions_file::append_permissions;
use super::webhooks::{CertificateIssuer, Replica, WebhookWiring};
use crate::Error;
use crate::faults::FaultLayer;

impl Cluster {
    /// Installs an operator and runs it until the test ends.
    ///
    /// Applies the manifests of the operator and runs it under their ServiceAccount and role. A
    /// request that the role does not allow fails the test at its end, even if the operator ignores
    /// the error. The webhooks are served where the cluster calls them; each mutating webhook is
    /// called twice and must not change its own result. Returns once the caches are filled.
    ///
    /// On an existing cluster with `KUBEWRIGHT_TEST_OPERATOR=deployed` nothing is installed: the
    /// method waits for the Deployment with the name of the operator.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not become ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.run_with(Arc::new(operator), CertificateIssuer::Harness)
    }

    /// Installs and runs an operator as [`run`](Self::run) does, but lets it issue and renew the
    /// certificate of its webhooks, as a deployed operator does.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not become ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run_managed<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.require_own_operator("choose the certificate of");
        self.run_with(Arc::new(operator), CertificateIssuer::Operator)
    }

    #[track_caller]
    fn run_with(
        &self,
        operator: Arc<dyn Fn() -> Operator + Send + Sync>,
        issuer: CertificateIssuer,
    ) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let started = if self.shared.backend.runs_operator() {
                self.wait_for_deployed(&operator().description()).await
            } else {
                self.run_here(operator, issuer).await
            };
            if let Err(error) = started {
                fail(location, Chain(&error));
            }
        }
    }

    async fn run_here(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        issuer: CertificateIssuer,
    ) -> Result<(), Error> {
        let under_test = self.install_here(make, issuer).await?;
        self.run_installed(under_test).await
    }

    /// Installs and runs an operator whose webhooks have an address already.
    pub(super) async fn run_wired(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<(), Error> {
        let under_test = self.install_wired(make, webhooks).await?;
        self.run_installed(under_test).await
    }

    pub(super) async fn run_installed(&self, under_test: OperatorUnderTest) -> Result<(), Error> {
        let under_test = self.start(under_test).await?;
        self.shared.operators.lock().push(under_test);
        Ok(())
    }

    /// Stops each operator under test and starts it again, with empty caches. An operator that
    /// crashed or was killed is only started.
    ///
    /// # Panics
    ///
    /// When an operator does not become ready again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, stopped operators stay stopped.
    #[track_caller]
    pub fn restart_operator(&self) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            self.require_own_operator("restart");
            for under_test in self.stop_operators().await {
                match self.start(under_test).await {
                    Ok(under_test) => self.shared.operators.lock().push(under_test),
                    Err(error) => fail(location, Chain(&error)),
                }
            }
        }
    }

    /// Stops each operator under test gracefully. [`restart_operator`](Self::restart_operator)
    /// does not start them again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operators end immediately, with work in flight.
    pub async fn stop_operator(&self) {
        self.require_own_operator("stop");
        drop(self.stop_operators().await);
    }

    /// Ends each operator under test immediately, with work in flight.
    /// [`restart_operator`](Self::restart_operator) starts them again.
    pub fn kill_operator(&self) {
        self.require_own_operator("kill");
        for under_test in &mut *self.shared.operators.lock() {
            under_test.kill();
        }
    }

    pub(super) async fn stop_operators(&self) -> Vec<OperatorUnderTest> {
        let mut operators = std::mem::take(&mut *self.shared.operators.lock());
        for under_test in &mut operators {
            under_test.stop().await;
        }
        operators
    }

    /// Ends the test on this cluster. Forbidden requests of an operator and faults that never
    /// happened are errors.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        drop(self.stop_operators().await);
        append_permissions(&self.shared.forbidden.used_permissions())?;
        let forbidden = self.shared.forbidden.take();
        let not_triggered = self.shared.injector.take_not_triggered();
        let closed = self.close().await;
        if !forbidden.is_empty() {
            return Err(Error::Forbidden {
                requests: forbidden.into_iter().collect::<Vec<_>>().join(", "),
            });
        }
        if !not_triggered.is_empty() {
            return Err(Error::FaultsNotTriggered {
                faults: not_triggered.join("; "),
            });
        }
        closed
    }

    async fn start(&self, mut under_test: OperatorUnderTest) -> Result<OperatorUnderTest, Error> {
        let operator = (under_test.make)();
        let name = operator.name().to_owned();
        let forbidden = &self.shared.forbidden;
        let backend = &self.shared.backend;
        let fault_layer = FaultLayer::new(&self.shared.injector);
        let client = backend
            .client(
                &under_test.account,
                &self.namespace,
                forbidden,
                &fault_layer,
            )
            .await?;
        let replica = match under_test.number {
            0 => Replica::First,
            _ => Replica::Additional,
        };
        let webhooks = match &under_test.webhooks {
            Some(wiring) => {
                let (serving, registration) = wiring.serve(backend, replica).await?;
                under_test.registration = registration;
                Some(serving)
            }
            None => None,
        };
        let options = RunOptions {
            clock: self.clock(),
            webhooks,
            election: election_options(&operator, &under_test.account),
            namespace: account_namespace(&under_test.account).map(str::to_owned),
            ..RunOptions::default()
        };
        let running = operator
            .start(client, options)
            .map_err(|source| Error::Operator {
                name: name.clone(),
                source: Box::new(source),
            })?;
        forbidden.include(running.permissions());
        self.shared.reconcile_loops.include(&running);
        let start = Instant::now();
        let ready = self.within(start + self.shared.timeout, running.ready());
        if let Err(end) = ready.await {
            let requests = forbidden.take().into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::Timeout {
                condition: format!("operator {name} to fill its caches"),
                elapsed: start.elapsed(),
                last: format!("forbidden requests: [{requests}]{end}"),
            });
        }
        under_test.running = Some(running);
        under_test.fault_layer = fault_layer;
        Ok(under_test)
    }
}

/// An operator that elects a leader does so in the namespace of its account.
fn election_options(operator: &Operator, account: &User) -> Option<ElectionOptions> {
    let namespace = account_namespace(account)?;
    operator
        .elects_leader()
        .then(|| ElectionOptions::new(namespace))
}

fn account_namespace(account: &User) -> Option<&str> {
    account.as_service_account().map(|(namespace, _)| namespace)
}
