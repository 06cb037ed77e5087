//! The handle by which a test uses its cluster.

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
use super::capability::Capability;
use super::forbidden::ForbiddenRequests;
use super::operator_under_test::OperatorUnderTest;
use super::reconcile_loops::ReconcileLoops;
use crate::Error;
use crate::faults::{FaultInjector, FaultLayer};

/// A Kubernetes cluster for one test, with a namespace of its own.
///
/// Methods use the namespace of the test, unless another one is given. Clones are handles to the
/// same cluster. Methods for which only success is useful fail the test; for requests that may fail
/// there is [`client`](Self::client).
#[derive(Clone)]
pub struct Cluster {
    pub(super) shared: Arc<ClusterState>,
    pub(super) namespace: String,
    pub(super) client: Client,
}

/// The state that all handles share.
pub(super) struct ClusterState {
    pub(super) backend: Backend,
    pub(super) timeout: Duration,
    /// The objects that the test read last, for the message when a wait times out.
    pub(super) seen: Mutex<Vec<String>>,
    pub(super) operators: Mutex<Vec<OperatorUnderTest>>,
    /// The forbidden requests of the operators under test.
    pub(super) forbidden: ForbiddenRequests,
    /// The reconcile loops of the operators under test.
    pub(super) reconcile_loops: ReconcileLoops,
    /// The faults for the operators under test.
    pub(super) injector: FaultInjector,
    /// Whether the runner of the test can skip it.
    pub(super) supports_skips: AtomicBool,
    /// The forbidden requests of the test's own clients, which do not fail the test.
    ignored_forbidden: ForbiddenRequests,
}

impl Cluster {
    pub(super) async fn new(
        backend: Backend,
        namespace: String,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let ignored_forbidden = ForbiddenRequests::default();
        let faults = FaultLayer::default();
        let client = backend
            .client(&User::admin(), &namespace, &ignored_forbidden, &faults)
            .await?;
        let cluster = Self {
            shared: Arc::new(ClusterState {
                backend,
                timeout,
                seen: Mutex::new(Vec::new()),
                operators: Mutex::new(Vec::new()),
                forbidden: ForbiddenRequests::default(),
                reconcile_loops: ReconcileLoops::default(),
                injector: FaultInjector::default(),
                supports_skips: AtomicBool::new(false),
                ignored_forbidden,
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

    /// A handle to the same cluster with another default namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            ..self.clone()
        }
    }

    /// A client with all permissions; its default namespace is the test's.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client that sends requests as the given user, with the permissions of that user.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub async fn client_for(&self, user: &User) -> Result<Client, Error> {
        let forbidden = &self.shared.ignored_forbidden;
        self.shared
            .backend
            .client(user, &self.namespace, forbidden, &FaultLayer::default())
            .await
    }

    /// A kubeconfig file with all permissions, for other programs. It is deleted with the cluster.
    ///
    /// The embedded cluster opens a port on loopback at the first call. Other programs do not use
    /// virtual time: such a test has to run on real time.
    pub fn kubeconfig(&self) -> Result<PathBuf, Error> {
        self.shared.backend.kubeconfig()
    }

    /// The ids of the cluster's processes, in the order in which they were started.
    pub fn process_ids(&self) -> Vec<u32> {
        self.shared.backend.process_ids()
    }

    /// The capabilities of this cluster.
    pub fn capabilities(&self) -> &'static [Capability] {
        self.shared.backend.capabilities()
    }

    /// The cluster's wall clock.
    pub fn clock(&self) -> Clock {
        self.shared.backend.clock()
    }

    /// Ends the use of this cluster: operators under test are stopped, and a pooled cluster is
    /// cleaned for the next test.
    ///
    /// A real cluster that is dropped without this call is stopped.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cluster may be cleaned in part; it is then not used again.
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
            .map_err(Error::request(format!("create namespace {name}")))?;
        if !self.shared.backend.creates_accounts() {
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
