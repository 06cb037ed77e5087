use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use kubewright::election::ElectionOptions;
use kubewright::{Operator, RunOptions, Running};
use kubewright_apiserver::User;
use tokio::time::Instant;

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::usage::note_used;
use super::webhooks::{CertificateMaker, Listed, Replica, WebhookWiring};
use crate::Error;
use crate::faults::Door;

/// An operator under test: how it is made, and its present run.
pub(super) struct UnderTest {
    make: Arc<dyn Fn() -> Operator + Send + Sync>,
    account: User,
    webhooks: Option<WebhookWiring>,
    running: Option<Running>,
    /// Who is asked, of its webhooks.
    listed: Listed,
    /// The way out of the present run.
    door: Door,
    /// Which of several replicas it is; the first is 0.
    number: usize,
}

impl UnderTest {
    /// One that is installed and does not run yet.
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
            listed: Listed::Alone,
            door: Door::default(),
            number: 0,
        }
    }

    /// The same operator once more, not yet running.
    pub(super) fn replica(&self, number: usize) -> Self {
        let (make, account) = (Arc::clone(&self.make), self.account.clone());
        Self {
            number,
            ..Self::new(make, account, self.webhooks.clone())
        }
    }

    /// Ends the present run at once, if it is that replica.
    pub(super) fn kill(&mut self, number: usize) {
        if self.number == number {
            self.crash();
        }
    }

    /// Ends the present run at once.
    fn crash(&mut self) {
        self.listed.cut();
        self.running = None;
    }

    /// The present run, if it is that replica; its webhooks are not sought any more.
    pub(super) fn leave(&mut self, number: usize) -> Option<Running> {
        let running = self.running.take_if(|_| self.number == number)?;
        std::mem::take(&mut self.listed).leave();
        Some(running)
    }

    /// Ends the present run: in order, unless it has crashed.
    async fn end(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        match self.door.is_closed() {
            true => drop(running),
            false => running.stop().await,
        }
    }
}

impl fmt::Debug for UnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnderTest")
            .field("account", &self.account.name)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Installs an operator and runs it until the test ends.
    ///
    /// What its `manifests` print is applied, and it runs under that ServiceAccount and role: a
    /// request that these do not allow fails the test at its end, even where the operator goes on
    /// as if nothing were. Its webhooks are served where the cluster calls them, and each mutator is
    /// called twice and must not change what it made itself. Returns once its caches are filled.
    ///
    /// On an existing cluster with `KUBEWRIGHT_TEST_OPERATOR=deployed` nothing is installed: the
    /// operator is the one that the Deployment of its name runs there, and is waited for.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not get ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.run_with(Arc::new(operator), CertificateMaker::Kit)
    }

    /// Installs and runs an operator as [`run`](Self::run) does, but has it make and renew the
    /// certificate of its webhooks itself, as where it is deployed.
    ///
    /// # Panics
    ///
    /// When it cannot be installed or does not get ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operator may be installed and does not run.
    #[track_caller]
    pub fn run_managed<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.needs_own_operator("choose the certificate of");
        self.run_with(Arc::new(operator), CertificateMaker::Operator)
    }

    #[track_caller]
    fn run_with(
        &self,
        operator: Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let started = match self.shared.backend.runs_operator() {
                true => self.find_deployed(&operator().description()).await,
                false => self.run_here(operator, maker).await,
            };
            if let Err(error) = started {
                fail(location, Chain(&error));
            }
        }
    }

    async fn run_here(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> Result<(), Error> {
        let under_test = self.install_here(make, maker).await?;
        self.run_installed(under_test).await
    }

    /// The same with a place for its webhooks that was chosen before.
    pub(super) async fn run_wired(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<(), Error> {
        let under_test = self.install_wired(make, webhooks).await?;
        self.run_installed(under_test).await
    }

    pub(super) async fn run_installed(&self, under_test: UnderTest) -> Result<(), Error> {
        let under_test = self.start(under_test).await?;
        self.shared.operators.lock().push(under_test);
        Ok(())
    }

    /// Stops each operator under test and starts it again, with empty caches; one that has
    /// crashed or was killed is only started.
    ///
    /// # Panics
    ///
    /// When one does not get ready again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, operators that were stopped stay so.
    #[track_caller]
    pub fn restart_operator(&self) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            self.needs_own_operator("start anew");
            for under_test in self.stop_operators().await {
                match self.start(under_test).await {
                    Ok(under_test) => self.shared.operators.lock().push(under_test),
                    Err(error) => fail(location, Chain(&error)),
                }
            }
        }
    }

    /// Stops each operator under test; [`restart_operator`](Self::restart_operator) starts none
    /// of them again.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the operators end at once, in the middle of what they do.
    pub async fn stop_operator(&self) {
        self.needs_own_operator("stop");
        drop(self.stop_operators().await);
    }

    /// Ends each operator under test at once, in the middle of what it does;
    /// [`restart_operator`](Self::restart_operator) starts them again.
    pub fn kill_operator(&self) {
        self.needs_own_operator("kill");
        for under_test in &mut *self.shared.operators.lock() {
            under_test.crash();
        }
    }

    pub(super) async fn stop_operators(&self) -> Vec<UnderTest> {
        let mut operators = std::mem::take(&mut *self.shared.operators.lock());
        for under_test in &mut operators {
            under_test.end().await;
        }
        operators
    }

    /// Ends the test on this cluster: what an operator was refused fails it, and a fault that
    /// never happened.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        drop(self.stop_operators().await);
        note_used(&self.shared.refusals.used())?;
        let refused = self.shared.refusals.take();
        let unmet = self.shared.script.take_unmet();
        let closed = self.close().await;
        if !refused.is_empty() {
            return Err(Error::Refused {
                requests: refused.into_iter().collect::<Vec<_>>().join(", "),
            });
        }
        if !unmet.is_empty() {
            return Err(Error::Unmet {
                faults: unmet.join("; "),
            });
        }
        closed
    }

    async fn start(&self, mut under_test: UnderTest) -> Result<UnderTest, Error> {
        let operator = (under_test.make)();
        let name = operator.name().to_owned();
        let failed = |source: kubewright::Error| Error::Operator {
            name: name.clone(),
            source: Box::new(source),
        };
        let refusals = &self.shared.refusals;
        let backend = &self.shared.backend;
        let door = Door::new(&self.shared.script);
        let client = backend
            .client(&under_test.account, &self.namespace, refusals, &door)
            .await?;
        let replica = match under_test.number {
            0 => Replica::First,
            _ => Replica::Further,
        };
        let webhooks = match &under_test.webhooks {
            Some(wiring) => {
                let (serving, listed) = wiring.serving(backend, replica).await?;
                under_test.listed = listed;
                Some(serving)
            }
            None => None,
        };
        let options = RunOptions {
            clock: self.clock(),
            webhooks,
            election: candidacy(&operator, &under_test.account),
            namespace: home(&under_test.account).map(str::to_owned),
            ..RunOptions::default()
        };
        let running = operator.start(client, options).map_err(failed)?;
        refusals.include(running.permissions());
        self.shared.reconcile_loops.include(&running);
        let start = Instant::now();
        let ready = self.within(start + self.shared.timeout, running.ready());
        if let Err(ended) = ready.await {
            let refused = refusals.take().into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::Waited {
                what: format!("operator {name} to fill its caches"),
                waited: start.elapsed(),
                last: format!("refused as forbidden: [{refused}]{ended}"),
            });
        }
        under_test.running = Some(running);
        under_test.door = door;
        Ok(under_test)
    }
}

/// An operator that can elect a leader does so, in the namespace of its account.
fn candidacy(operator: &Operator, account: &User) -> Option<ElectionOptions> {
    let namespace = home(account)?;
    operator
        .elects_leader()
        .then(|| ElectionOptions::new(namespace))
}

fn home(account: &User) -> Option<&str> {
    account.as_service_account().map(|(namespace, _)| namespace)
}
