use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::PostParams;
use kubewright_apiserver::pki::{Authority, Subject, Usage};
use kubewright_apiserver::{Behaviours, Server, ServerOptions, ServingIdentity, User};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::kubeconfig::{Credentials, kubeconfig};

/// An embedded cluster that serves TLS on loopback.
#[derive(Debug)]
pub(crate) struct Embedded {
    server: Server,
    authority: Authority,
    address: SocketAddr,
    cancel: CancellationToken,
    tasks: JoinSet<Result<(), Error>>,
}

impl Embedded {
    /// Starts the cluster with nodes `node-1`, `node-2`, ... on the port, or on a free one for 0.
    pub(crate) async fn start(nodes: usize, port: u16) -> Result<Self, Error> {
        let certificates = |source| Error::Certificates { source };
        let authority = Authority::new("kubewright").map_err(certificates)?;
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

        let server = Server::new(ServerOptions::default());
        let cancel = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let (run, stop) = (server.clone(), cancel.clone());
        let behaviours = Behaviours::all().root_certificate(authority.certificate_pem());
        tasks.spawn(async move {
            run.run_behaviours(&behaviours, stop).await;
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
        cluster.add_nodes(nodes).await?;
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
            let node = serde_json::from_value(kubewright_apiserver::node(&name))
                .map_err(|source| failed(kube::Error::SerdeError(source)))?;
            nodes
                .create(&PostParams::default(), &node)
                .await
                .map_err(failed)?;
        }
        Ok(())
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server itself, to wait for its revisions.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// A client that may do everything, without a socket.
    pub(crate) fn admin(&self) -> kube::Client {
        kube::Client::new(self.server.service(User::admin()), "default")
    }

    /// Writes a kubeconfig with an administrator's certificate; the full path comes back.
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
        self.write_kubeconfig(path, &Credentials::Certificate(&admin))
    }

    /// Writes a kubeconfig with these credentials into a new file, readable by its owner alone.
    pub(crate) fn write_kubeconfig(
        &self,
        path: &Path,
        credentials: &Credentials<'_>,
    ) -> Result<PathBuf, Error> {
        let text = kubeconfig(self.address, &self.authority.certificate_pem(), credentials);
        let failed = |source| Error::Kubeconfig {
            path: path.to_owned(),
            source,
        };
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        path.canonicalize().map_err(failed)
    }

    /// Serves until somebody interrupts it or the cluster fails, then stops it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the cluster at once.
    pub(crate) async fn until(mut self, interrupts: &mut Interrupts) -> Result<(), Error> {
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
