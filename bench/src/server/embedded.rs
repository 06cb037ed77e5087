//! The embedded API server on a port of the loopback interface.

use std::path::PathBuf;

use kube::Client;
use kubewright_apiserver::{Server, ServerOptions, ServingIdentity, User};
use kubewright_http::pki::{Authority, Subject, Usage};
use kubewright_testing::real::{Credentials, Kubeconfig};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// The file name of the kubeconfig.
const KUBECONFIG: &str = "kubeconfig";

/// The embedded API server, without controllers. Dropping the value stops it.
#[derive(Debug)]
pub(crate) struct EmbeddedServer {
    server: Server,
    folder: TempDir,
    /// The serving task. It ends when the set is dropped.
    _serving: JoinSet<()>,
}

impl EmbeddedServer {
    /// Starts the server and writes its kubeconfig.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the server.
    pub(super) async fn start() -> Result<Self, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Embedded { source };
        let authority = Authority::new("kubewright-bench").map_err(|e| failed(e.into()))?;
        let issue = |name: &str, organization: Option<&str>, usage, names: &[&str]| {
            authority
                .issue(&Subject {
                    common_name: name.to_owned(),
                    organizations: organization.map(str::to_owned).into_iter().collect(),
                    usage,
                    names: names.iter().map(|name| (*name).to_owned()).collect(),
                })
                .map_err(|error| failed(error.into()))
        };
        let serving = issue(
            "kube-apiserver",
            None,
            Usage::Server,
            &["127.0.0.1", "localhost"],
        )?;
        let admin = issue("admin", Some("system:masters"), Usage::Client, &[])?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(|error| failed(error.into()))?;
        let address = listener.local_addr().map_err(|e| failed(e.into()))?;
        let kubeconfig = Kubeconfig {
            server: format!("https://{address}"),
            authority_pem: authority.certificate_pem(),
            credentials: Credentials::Certificate(admin),
            namespace: "default".to_owned(),
        };
        let folder = tempfile::tempdir().map_err(|error| failed(error.into()))?;
        std::fs::write(folder.path().join(KUBECONFIG), kubeconfig.to_text())
            .map_err(|error| failed(error.into()))?;

        let server = Server::new(ServerOptions::default());
        let identity = ServingIdentity {
            certificate_pem: serving.certificate_pem,
            key_pem: serving.key_pem,
            client_authority_pem: authority.certificate_pem(),
        };
        let serving_server = server.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // If the server ends early, the subject fails and reports its error.
            let ended = serving_server
                .serve(listener, identity, CancellationToken::new())
                .await;
            if let Err(error) = ended {
                crate::output::note(&format!("the embedded API server failed: {error}"));
            }
        });
        Ok(Self {
            server,
            folder,
            _serving: tasks,
        })
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.server.service(User::admin()), "default")
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join(KUBECONFIG)
    }
}
