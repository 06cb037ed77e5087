//! The API server, assembled.

use std::fmt;
use std::sync::Arc;

use kubewright_core::{Clock, Resource, Revision};
use kubewright_wire::status::Status;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::admission::{AdmissionChain, AdmissionContext, AdmissionPlugins};
use crate::authentication::{Authenticator, Credentials, User};
use crate::authorization::{AuthorizationWebhook, Authorizer};
use crate::bootstrap;
use crate::request::{Api, ApiRequest, ApiResponse, Workers, execute};
use crate::resources::Catalog;
use crate::serve::{BodyBudget, Error, InProcess, ServingIdentity, listen};
use crate::store::{History, Random, Store};
use crate::webhook_client::{WebhookClient, WebhookEndpoints};

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
    api: Arc<Api>,
    bodies: BodyBudget,
}

/// How a [`Server`] starts.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The clock for timestamps.
    pub clock: Clock,
    /// The seed of uids and generated names: equal seeds and equal requests give equal objects.
    pub seed: u64,
    /// How many writes the log keeps for watches and lists of the past.
    pub history: usize,
    /// About how many bytes of past states the log keeps. A watch that is further behind fails
    /// with 410.
    pub history_bytes: usize,
    /// The admission plugins.
    pub admission: AdmissionPlugins,
    /// The webhook that authorizes before RBAC.
    pub authorizer: Option<AuthorizationWebhook>,
}

/// The clock of the system, seed 1, the last 8192 writes within 64 MB, all plugins.
impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            seed: 1,
            history: History::default().writes,
            history_bytes: History::default().bytes,
            admission: AdmissionPlugins::default(),
            authorizer: None,
        }
    }
}

impl ServerOptions {
    fn history(&self) -> History {
        History {
            writes: self.history,
            bytes: self.history_bytes,
        }
    }
}

/// The components of a server that a fork shares or continues.
struct ServerParts {
    store: Store,
    random: Random,
    authenticator: Authenticator,
    bodies: BodyBudget,
    workers: Workers,
}

impl Server {
    /// A server with the objects that every cluster has from its start: four namespaces and the
    /// roles of Kubernetes.
    pub fn new(options: ServerOptions) -> Self {
        let store = Store::new(options.history());
        let authenticator = Authenticator::new(store.clone());
        Self::start(options, store, authenticator)
    }

    /// A server that stores its objects in a folder, and starts with the objects in it. What a
    /// response has shown survives the end of the process.
    ///
    /// Each start needs another seed: an equal seed would generate the same names and uids again.
    #[cfg(feature = "disk")]
    pub fn open(
        options: ServerOptions,
        folder: &std::path::Path,
    ) -> Result<Self, crate::store::DiskError> {
        use crate::authentication::TokenSigner;
        let mut disk = crate::store::Disk::open(folder)?;
        let key = disk.secret("token-key", TokenSigner::new_key)?;
        let store = Store::on_disk(disk, options.history())?;
        let authenticator = Authenticator::signing_with(store.clone(), key);
        Ok(Self::start(options, store, authenticator))
    }

    fn start(options: ServerOptions, store: Store, authenticator: Authenticator) -> Self {
        let parts = ServerParts {
            store,
            random: Random::new(options.seed),
            authenticator,
            bodies: BodyBudget::default(),
            workers: Workers::default(),
        };
        let server = Self::assemble(options, parts);
        bootstrap::fill(&server.api);
        server.api.store.start_history();
        server
    }

    fn assemble(options: ServerOptions, parts: ServerParts) -> Self {
        let ServerParts {
            store,
            authenticator,
            bodies,
            workers,
            ..
        } = parts;
        let random = Arc::new(parts.random);
        let catalog = Arc::new(Catalog::default());
        let webhooks =
            WebhookClient::new(store.clone(), options.clock.clone(), Arc::clone(&random));
        let admission = AdmissionContext {
            store: store.clone(),
            catalog: Arc::clone(&catalog),
            webhooks: webhooks.clone(),
            random: Arc::clone(&random),
        };
        Self {
            api: Arc::new(Api {
                authorizer: Authorizer::new(store.clone(), options.authorizer, webhooks.clone()),
                admission: AdmissionChain::new(admission, options.admission),
                store,
                clock: options.clock,
                random,
                catalog,
                authenticator,
                webhooks,
                workers,
            }),
            bodies,
        }
    }

    /// A server with the same objects and history. Later writes to one are not visible in the other.
    ///
    /// The cost does not depend on the number of objects.
    #[must_use]
    pub fn fork(&self) -> Self {
        let api = &self.api;
        self.fork_with(ServerOptions {
            clock: api.clock.clone(),
            admission: api.admission.plugins().clone(),
            authorizer: api.authorizer.webhook().cloned(),
            ..ServerOptions::default()
        })
    }

    /// A fork with another clock, other plugins and another authorizer. Uids and names continue
    /// those of this server, and its log keeps as many writes.
    #[must_use]
    pub fn fork_with(&self, options: ServerOptions) -> Self {
        let api = &self.api;
        let store = api.store.fork();
        let parts = ServerParts {
            authenticator: api.authenticator.fork(store.clone()),
            store,
            random: api.random.fork(),
            bodies: self.bodies.clone(),
            workers: api.workers.clone(),
        };
        Self::assemble(options, parts)
    }

    /// The server as an HTTP service in this process, for requests of the given user. A bearer
    /// token or impersonation headers in a request take precedence.
    pub fn service(&self, user: User) -> InProcess {
        self.service_for(Credentials::InProcess(user))
    }

    fn service_for(&self, credentials: Credentials) -> InProcess {
        InProcess::new(Arc::clone(&self.api), self.bodies.clone(), credentials)
    }

    /// Serves requests on a socket, over TLS, until it is cancelled.
    ///
    /// Users authenticate with client certificates of the identity's authority, or with tokens of
    /// ServiceAccounts; a request with neither fails with 401. The error of a single connection
    /// does not end this: the only errors are those of an identity that cannot be used.
    ///
    /// The number of connections is limited by the file descriptors of the process. Beyond that a
    /// new connection closes the connection that has been idle longest, unauthenticated connections
    /// first. It receives 429 only if all connections have requests in flight. When cancelled,
    /// watches end, and other requests in flight have a second and a half.
    ///
    /// # Cancel safety
    ///
    /// Dropping this closes every connection at once. Each write has then happened completely or
    /// not at all.
    pub async fn serve(
        &self,
        listener: TcpListener,
        identity: ServingIdentity,
        cancel: CancellationToken,
    ) -> Result<(), Error> {
        let server = self.clone();
        let service = move |credentials| server.service_for(credentials);
        listen(listener, &identity, cancel, service).await
    }

    /// Executes a request of a component of the cluster, without HTTP, authentication and
    /// authorization.
    ///
    /// # Cancel safety
    ///
    /// A write has happened completely or not at all.
    pub async fn execute(&self, request: ApiRequest) -> Result<ApiResponse, Status> {
        execute(&self.api, request).await
    }

    #[cfg(test)]
    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// Changes at each stored write.
    pub fn revisions(&self) -> watch::Receiver<Revision> {
        self.api.store.revisions()
    }

    /// The stored objects, without authorization, admission and validation.
    pub fn store(&self) -> &Store {
        &self.api.store
    }

    /// The clock for timestamps.
    pub fn clock(&self) -> &Clock {
        &self.api.clock
    }

    /// Every resource that is served, in every version, with the custom ones.
    pub fn resources(&self) -> Vec<Resource> {
        let served = self.api.catalog.all(&self.api.store.snapshot());
        served
            .iter()
            .map(|served| served.resource.clone())
            .collect()
    }

    /// Webhook servers in this process, which the server reaches without a socket.
    pub fn webhooks(&self) -> &WebhookEndpoints {
        self.api.webhooks.endpoints()
    }

    /// A number that follows from the seed of the server.
    pub fn random_number(&self) -> u64 {
        self.api.random.next()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("store", &self.api.store)
            .finish_non_exhaustive()
    }
}
