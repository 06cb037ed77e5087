use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kube::Client;
use kubewright_apiserver::User;
use kubewright_core::Clock;
use parking_lot::Mutex;
use serde_json::json;

use super::backend::Backend;
use super::builder::ClusterBuilder;
use super::capability::Capability;
use super::operator::UnderTest;
use super::reconcile_loops::ReconcileLoops;
use super::refusals::Refusals;
use crate::faults::{Door, Script};
use crate::{Choice, Error, Settings};

/// A Kubernetes cluster for one test, with a namespace of its own.
///
/// Calls that name no namespace mean the test's. Clones are handles to the same cluster. Calls
/// that only make sense when they succeed fail the test; for others there is
/// [`client`](Self::client).
#[derive(Clone)]
pub struct Cluster {
    pub(super) shared: Arc<Shared>,
    pub(super) namespace: String,
    pub(super) client: Client,
}

pub(super) struct Shared {
    pub(super) backend: Backend,
    pub(super) timeout: Duration,
    /// What the test read last, for the message when it waits in vain.
    pub(super) seen: Mutex<Vec<String>>,
    /// The operators under test.
    pub(super) operators: Mutex<Vec<UnderTest>>,
    /// What they were refused.
    pub(super) refusals: Refusals,
    /// Which of their reconciles wake themselves.
    pub(super) reconcile_loops: ReconcileLoops,
    /// What goes wrong for them.
    pub(super) script: Script,
    /// Whether whoever runs the test knows what to do with a skip.
    pub(super) understands_skips: AtomicBool,
    /// What clients of the test itself were refused, which is the test's own affair.
    unwatched: Refusals,
}

impl Cluster {
    /// A cluster in this process.
    pub fn embedded() -> ClusterBuilder {
        ClusterBuilder::new(Choice::Embedded)
    }

    /// A cluster of real processes.
    pub fn real() -> ClusterBuilder {
        ClusterBuilder::new(Choice::Real)
    }

    /// The cluster that the current kubeconfig leads to, which stays as it was: a test has a
    /// namespace of its own there, and the definitions, roles and webhook configurations of the
    /// operator under test are labelled and removed afterwards. One that somebody else has made
    /// is refused, not changed. Tests take turns.
    pub fn existing() -> ClusterBuilder {
        ClusterBuilder::new(Choice::Existing)
    }

    /// The cluster that `KUBEWRIGHT_TEST_CLUSTER` names: `embedded` (the default), `real` or
    /// `existing`.
    pub fn chosen() -> Result<ClusterBuilder, Error> {
        Ok(ClusterBuilder::new(Settings::from_environment()?.cluster))
    }

    pub(super) async fn new(
        backend: Backend,
        namespace: String,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let unwatched = Refusals::default();
        let client = backend
            .client(&User::admin(), &namespace, &unwatched, &Door::default())
            .await?;
        let cluster = Self {
            shared: Arc::new(Shared {
                backend,
                timeout,
                seen: Mutex::new(Vec::new()),
                operators: Mutex::new(Vec::new()),
                refusals: Refusals::default(),
                reconcile_loops: ReconcileLoops::default(),
                script: Script::default(),
                understands_skips: AtomicBool::new(false),
                unwatched,
            }),
            namespace,
            client,
        };
        cluster.create_namespace(cluster.namespace()).await?;
        Ok(cluster)
    }

    /// The test's namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The same cluster, where calls that name no namespace mean this one.
    #[must_use]
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            ..self.clone()
        }
    }

    /// A client that may do everything; its default namespace is the test's.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client that calls as the given user, with that user's permissions.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub async fn client_for(&self, user: &User) -> Result<Client, Error> {
        let unwatched = &self.shared.unwatched;
        self.shared
            .backend
            .client(user, &self.namespace, unwatched, &Door::default())
            .await
    }

    /// A kubeconfig file that may do everything, for other programs. It goes with the cluster.
    ///
    /// The embedded cluster opens a port on loopback at the first call. Other programs know
    /// nothing of virtual time: such a test runs on real time.
    pub fn kubeconfig(&self) -> Result<PathBuf, Error> {
        self.shared.backend.kubeconfig()
    }

    /// The numbers of the cluster's processes, in the order in which they were started.
    pub fn process_ids(&self) -> Vec<u32> {
        self.shared.backend.process_ids()
    }

    /// What this cluster can do.
    pub fn capabilities(&self) -> &'static [Capability] {
        self.shared.backend.capabilities()
    }

    /// The cluster's wall clock.
    pub fn clock(&self) -> Clock {
        self.shared.backend.clock()
    }

    /// Ends the use of this cluster: operators under test are stopped, and a pooled one is cleaned
    /// for the next test.
    ///
    /// A real cluster that is dropped without this is ended.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cluster may be left half cleaned; it is then not used again.
    pub async fn close(&self) -> Result<(), Error> {
        drop(self.stop_operators().await);
        self.shared.backend.close().await
    }

    /// Creates a namespace, and waits until Pods can be created in it.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the namespace may have been created.
    pub async fn create_namespace(&self, name: &str) -> Result<(), Error> {
        let mut namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name },
        });
        let path = format!("/api/v1/namespaces/{name}");
        self.shared.backend.claim(&mut namespace, &path).await?;
        self.send("POST", "/api/v1/namespaces", &namespace)
            .await
            .map_err(|source| Error::Request {
                tried: format!("create namespace {name}"),
                source: Box::new(source),
            })?;
        if !self.shared.backend.makes_accounts() {
            return Ok(());
        }
        let path = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        self.until(&format!("ServiceAccount {name}/default"), async || {
            let missing = self.read(&path).await.err();
            Ok(missing.map(|error| error.to_string()))
        })
        .await
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("namespace", &self.namespace)
            .field("backend", &self.shared.backend)
            .finish_non_exhaustive()
    }
}
