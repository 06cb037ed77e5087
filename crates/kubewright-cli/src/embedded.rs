//! An embedded cluster of this process that serves TLS on loopback.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::PostParams;
use kubewright_apiserver::{AdmissionPlugins, Server, ServerOptions, ServingIdentity, User};
use kubewright_cluster::{Cluster, Controllers};
use kubewright_http::pki::{Authority, KeyPairPem, Subject, Usage};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::kubeconfig::kubeconfig;
use crate::private_file::{create_private, replace_private};

/// The name of the authority that signs the certificates of a cluster.
const AUTHORITY: &str = "kubewright";

/// An embedded cluster that serves TLS on loopback.
#[derive(Debug)]
pub(crate) struct EmbeddedCluster {
    server: Server,
    authority: Authority,
    address: SocketAddr,
    cancel: CancellationToken,
    tasks: JoinSet<Result<(), Error>>,
}

/// How an [`EmbeddedCluster`] starts.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedOptions {
    /// The number of nodes: `node-1`, `node-2`, ...
    pub(crate) nodes: usize,
    /// The port to listen on; 0 selects a free one.
    pub(crate) port: u16,
    /// The admission plugins of the API server.
    pub(crate) admission: AdmissionPlugins,
}

impl EmbeddedCluster {
    /// Starts an empty cluster.
    pub(crate) async fn start(options: EmbeddedOptions) -> Result<Self, Error> {
        let certificates = |source| Error::Certificates { source };
        let authority = Authority::new(AUTHORITY).map_err(certificates)?;
        let server = Server::new(ServerOptions {
            admission: options.admission.clone(),
            ..ServerOptions::default()
        });
        Self::serve(server, authority, options).await
    }

    /// Starts a cluster that stores its objects in a folder, and continues from what it has.
    pub(crate) async fn open(folder: &Path, options: EmbeddedOptions) -> Result<Self, Error> {
        let server_options = ServerOptions {
            // Names and uids of an earlier process must not be generated again.
            seed: RandomState::new().hash_one(std::process::id()),
            admission: options.admission.clone(),
            ..ServerOptions::default()
        };
        let server = Server::open(server_options, folder).map_err(|source| Error::DataFolder {
            folder: folder.to_owned(),
            source,
        })?;
        let authority = stored_authority(&folder.join("ca.key"))?;
        Self::serve(server, authority, options).await
    }

    async fn serve(
        server: Server,
        authority: Authority,
        options: EmbeddedOptions,
    ) -> Result<Self, Error> {
        let port = options.port;
        let certificates = |source| Error::Certificates { source };
        let serving = authority
            .issue(&Subject {
                common_name: "kube-apiserver".to_owned(),
                organizations: Vec::new(),
                usage: Usage::Server,
                names: [
                    "127.0.0.1",
                    "localhost",
                    "kubernetes",
                    "kubernetes.default",
                    "kubernetes.default.svc",
                ]
                .map(str::to_owned)
                .to_vec(),
            })
            .map_err(certificates)?;
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(|source| Error::Listen { port, source })?;
        let address = listener
            .local_addr()
            .map_err(|source| Error::Listen { port, source })?;

        let cancel = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let (cluster, stop) = (Cluster::new(server.clone()), cancel.clone());
        let controllers = Controllers::all().root_certificate(authority.certificate_pem());
        tasks.spawn(async move {
            cluster.run(&controllers, stop).await;
            Ok(())
        });
        let (serve, stop) = (server.clone(), cancel.clone());
        let identity = ServingIdentity {
            certificate_pem: serving.certificate_pem,
            key_pem: serving.key_pem,
            client_authority_pem: authority.certificate_pem(),
        };
        tasks.spawn(async move {
            serve
                .serve(listener, identity, stop)
                .await
                .map_err(|source| Error::Serve { source })
        });
        let cluster = Self {
            server,
            authority,
            address,
            cancel,
            tasks,
        };
        cluster.add_nodes(options.nodes).await?;
        Ok(cluster)
    }

    async fn add_nodes(&self, count: usize) -> Result<(), Error> {
        let nodes: Api<Node> = Api::all(self.admin());
        for number in 1..=count {
            let name = format!("node-{number}");
            let failed = |source| Error::Request {
                action: format!("add {name}"),
                source: Box::new(source),
            };
            let node = serde_json::from_value(kubewright_cluster::node(&name))
                .map_err(|source| failed(kube::Error::SerdeError(source)))?;
            match nodes.create(&PostParams::default(), &node).await {
                // The node is stored in the data folder.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                created => drop(created.map_err(failed)?),
            }
        }
        Ok(())
    }

    /// The address that the API server listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The API server.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Returns an administrator's client, which calls the server in this process.
    pub(crate) fn admin(&self) -> kube::Client {
        kube::Client::new(self.server.service(User::admin()), "default")
    }

    /// Writes a kubeconfig with an administrator's certificate, and returns its full path.
    pub(crate) fn write_admin_kubeconfig(&self, path: &Path) -> Result<PathBuf, Error> {
        let admin = self
            .authority
            .issue(&Subject {
                common_name: "admin".to_owned(),
                organizations: vec!["system:masters".to_owned()],
                usage: Usage::Client,
                names: Vec::new(),
            })
            .map_err(|source| Error::Certificates { source })?;
        self.write_kubeconfig(path, &admin)
    }

    /// Writes a kubeconfig with these credentials to a new file that only its owner may read.
    fn write_kubeconfig(&self, path: &Path, identity: &KeyPairPem) -> Result<PathBuf, Error> {
        let text = kubeconfig(self.address, &self.authority.certificate_pem(), identity);
        let failed = |source| Error::Kubeconfig {
            path: path.to_owned(),
            source,
        };
        create_private(path, &text).map_err(failed)?;
        path.canonicalize().map_err(failed)
    }

    /// Serves until a signal arrives or the cluster fails, then stops.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the cluster at once.
    pub(crate) async fn run_until(mut self, interrupts: &mut Interrupts) -> Result<(), Error> {
        let outcome = tokio::select! {
            () = interrupts.next() => Ok(()),
            ended = self.tasks.join_next() => ended.and_then(Result::ok).unwrap_or(Ok(())),
        };
        self.stop().await?;
        outcome
    }

    /// Closes the connections and waits for the cluster's tasks.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the cluster at once.
    pub(crate) async fn stop(mut self) -> Result<(), Error> {
        self.cancel.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap_or(Ok(()))?;
        }
        Ok(())
    }
}

/// Returns the authority whose key is in the file, and creates the file when it does not exist. The
/// same key keeps kubeconfigs valid across restarts.
fn stored_authority(path: &Path) -> Result<Authority, Error> {
    let certificates = |source| Error::Certificates { source };
    match std::fs::read_to_string(path) {
        Ok(key) => Authority::with_key(AUTHORITY, &key).map_err(certificates),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            let authority = Authority::new(AUTHORITY).map_err(certificates)?;
            // A rename is atomic: a process that is killed leaves no partial key behind.
            let part = path.with_extension("part");
            replace_private(&part, &authority.key_pem())
                .and_then(|()| std::fs::rename(&part, path))
                .map_err(|source| file_error("write the authority's key", path, source))?;
            Ok(authority)
        }
        Err(source) => Err(file_error("read the authority's key", path, source)),
    }
}

fn file_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File {
        action,
        path: path.to_owned(),
        source,
    }
}
