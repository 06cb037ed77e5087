use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use kubewright_core::{Clock, Resource, Revision};
use tokio::sync::watch;

use crate::admission::policy::Policy;
use crate::admission::webhook::{Connections, Hook, WebhookEndpoints};
use crate::behaviour::{NodeControl, OrderBook, PodControl};
use crate::bootstrap;
use crate::catalog::Catalog;
use crate::may::{Access, Answers, AuthorizationWebhook};
use crate::request::{BodyRoom, InProcess, Workers};
use crate::seeded::SeededFault;
use crate::store::{History, Random, ReadOnce, Store};
use crate::who::{Credentials, User};

/// An embedded Kubernetes API server. Clones are handles to the same server.
///
/// ```
/// use kubewright_apiserver::{Server, ServerOptions, User};
///
/// let server = Server::new(ServerOptions::default());
/// let service = server.service(User::admin());
/// # drop(service);
/// ```
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    clock: Clock,
    random: Random,
    catalog: Catalog,
    access: Access,
    orders: OrderBook,
    webhooks: WebhookEndpoints,
    connections: Connections,
    policies: ReadOnce<Policy>,
    hooks: ReadOnce<Vec<Hook>>,
    body_room: BodyRoom,
    workers: Workers,
    admission: AdmissionPlugins,
    authorizer: Option<AuthorizationWebhook>,
    answers: Answers,
    seeded: Option<SeededFault>,
}

/// Which of the plugins that change and check objects are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdmissionPlugins {
    /// Those of a server of Kubernetes in its default configuration.
    #[default]
    Default,
    /// Without those that need a controller beside the server: Pods need no ServiceAccount, and
    /// new nodes are not tainted. So is a real server run that stands alone.
    WithoutControllers,
}

/// How a [`Server`] starts.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where timestamps come from.
    pub clock: Clock,
    /// From which uids and generated names follow: equal seeds and equal requests give equal
    /// objects.
    pub seed: u64,
    /// How many writes the log keeps for watches and lists of the past.
    pub history: usize,
    /// About how many bytes of past states the log keeps at most; who is behind is told so (410)
    /// and lists again.
    pub history_bytes: usize,
    /// Who changes and checks objects on their way to the store.
    pub admission: AdmissionPlugins,
    /// Who is asked before the roles what users may do.
    pub authorizer: Option<AuthorizationWebhook>,
    /// A fault of the server, for tests of the tests.
    #[doc(hidden)]
    pub seeded: Option<SeededFault>,
}

/// The system's clock, seed 1, the last 8192 writes within 64 MB, all plugins.
impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            seed: 1,
            history: History::default().writes,
            history_bytes: History::default().bytes,
            admission: AdmissionPlugins::Default,
            authorizer: None,
            seeded: None,
        }
    }
}

impl ServerOptions {
    fn reach(&self) -> History {
        History {
            writes: self.history,
            bytes: self.history_bytes,
        }
    }
}

impl Server {
    /// A server with what every cluster has from its start: four namespaces and the roles
    /// that Kubernetes needs.
    pub fn new(options: ServerOptions) -> Self {
        let store = Store::new(options.reach());
        let access = Access::new(store.clone());
        Self::with(options, store, access)
    }

    /// A server that keeps everything in a folder, and has what is there already: what it has
    /// answered survives the end of the process, however that comes.
    ///
    /// The seed must be another at each start, or names and uids are given twice.
    #[cfg(feature = "disk")]
    pub fn open(
        options: ServerOptions,
        folder: &std::path::Path,
    ) -> Result<Self, crate::store::DiskError> {
        let mut disk = crate::store::Disk::open(folder)?;
        let key = disk.secret("token-key", crate::who::TokenSigner::new_key)?;
        let store = Store::on_disk(disk, options.reach())?;
        let access = Access::signing_with(store.clone(), key);
        Ok(Self::with(options, store, access))
    }

    fn with(options: ServerOptions, store: Store, access: Access) -> Self {
        let server = Self {
            inner: Arc::new(Inner {
                access: access.seeded(options.seeded),
                store,
                clock: options.clock,
                random: Random::new(options.seed),
                catalog: Catalog::default(),
                orders: OrderBook::default(),
                webhooks: WebhookEndpoints::default(),
                connections: Connections::default(),
                policies: ReadOnce::default(),
                hooks: ReadOnce::default(),
                body_room: BodyRoom::default(),
                workers: Workers::default(),
                admission: options.admission,
                authorizer: options.authorizer,
                answers: Answers::default(),
                seeded: options.seeded,
            }),
        };
        bootstrap::fill(&server);
        server.store().start_history();
        server
    }

    /// A server with the same objects and history that goes its own way from here.
    ///
    /// Costs the same whatever is stored, and shares nothing that changes.
    #[must_use]
    pub fn fork(&self) -> Self {
        let inner = &self.inner;
        self.fork_with(ServerOptions {
            clock: inner.clock.clone(),
            admission: inner.admission,
            authorizer: inner.authorizer.clone(),
            seeded: inner.seeded,
            ..ServerOptions::default()
        })
    }

    /// The same with another clock, other plugins and another authorizer. Uids and names go on as
    /// this server's would, and its log keeps as many writes.
    #[must_use]
    pub fn fork_with(&self, options: ServerOptions) -> Self {
        let store = self.inner.store.fork();
        let access = self.inner.access.fork(store.clone());
        Self {
            inner: Arc::new(Inner {
                access: access.seeded(options.seeded),
                store,
                clock: options.clock,
                random: self.inner.random.fork(),
                catalog: Catalog::default(),
                orders: self.inner.orders.fork(),
                webhooks: WebhookEndpoints::default(),
                connections: Connections::default(),
                policies: ReadOnce::default(),
                hooks: ReadOnce::default(),
                body_room: self.inner.body_room.clone(),
                workers: self.inner.workers.clone(),
                admission: options.admission,
                authorizer: options.authorizer,
                answers: Answers::default(),
                seeded: options.seeded,
            }),
        }
    }

    /// The server as an HTTP service in this process. Requests are the given user's; a bearer
    /// token or impersonation headers in a request win over that.
    pub fn service(&self, user: User) -> InProcess {
        InProcess::new(self.clone(), Credentials::InProcess(user))
    }

    /// The service for a connection whose sender is known in another way.
    pub(crate) fn service_for(&self, credentials: Credentials) -> InProcess {
        InProcess::new(self.clone(), credentials)
    }

    /// Changes at each stored write.
    pub fn revisions(&self) -> watch::Receiver<Revision> {
        self.inner.store.revisions()
    }

    /// The stored objects, for reading and following past every rule.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Decides what becomes of Pods: which are held, fail, crash, are never ready.
    pub fn pods(&self) -> PodControl {
        PodControl::new(self.inner.orders.clone())
    }

    /// Stops and starts the kubelets of nodes.
    pub fn nodes(&self) -> NodeControl {
        NodeControl::new(self.inner.orders.clone())
    }

    pub(crate) fn orders(&self) -> &OrderBook {
        &self.inner.orders
    }

    /// The clock that timestamps come from.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Every resource that is served, each in every version, the custom ones included.
    pub fn resources(&self) -> Vec<Resource> {
        let served = self.catalog().all(&self.store().snapshot());
        served.iter().map(|one| one.resource.clone()).collect()
    }

    /// Webhook servers in this process, which the server reaches without a socket.
    pub fn webhooks(&self) -> &WebhookEndpoints {
        &self.inner.webhooks
    }

    /// Connections to webhooks, in this process or not.
    pub(crate) fn connections(&self) -> &Connections {
        &self.inner.connections
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.inner.catalog
    }

    /// What the bodies of requests under way may take.
    pub(crate) fn body_room(&self) -> &BodyRoom {
        &self.inner.body_room
    }

    /// The threads for requests that may take long.
    pub(crate) fn workers(&self) -> &Workers {
        &self.inner.workers
    }

    /// The policies that were read.
    pub(crate) fn policies(&self) -> &ReadOnce<Policy> {
        &self.inner.policies
    }

    /// The webhooks of the configurations that were read.
    pub(crate) fn hooks(&self) -> &ReadOnce<Vec<Hook>> {
        &self.inner.hooks
    }

    pub(crate) fn admission(&self) -> AdmissionPlugins {
        self.inner.admission
    }

    pub(crate) fn authorizer(&self) -> Option<&AuthorizationWebhook> {
        self.inner.authorizer.as_ref()
    }

    /// What the authorization webhook said.
    pub(crate) fn answers(&self) -> &Answers {
        &self.inner.answers
    }

    /// Whether a test has planted this fault.
    pub(crate) fn has(&self, fault: SeededFault) -> bool {
        self.inner.seeded == Some(fault)
    }

    pub(crate) fn random(&self) -> &Random {
        &self.inner.random
    }

    pub(crate) fn access(&self) -> &Access {
        &self.inner.access
    }

    /// Now, as objects carry it: whole seconds, UTC.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(self.inner.clock.now())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("store", &self.inner.store)
            .finish_non_exhaustive()
    }
}

/// A time as objects carry it: whole seconds, UTC.
pub(crate) fn timestamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
