//! Serves an embedded cluster on loopback for other programs.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use kubewright_apiserver::{Server, ServingIdentity, User};
use kubewright_http::pki::{Authority, Subject, Usage};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Error;
use crate::real::{Credentials, Kubeconfig};

/// An embedded cluster that is served over TLS on loopback.
#[derive(Debug)]
pub(super) struct Address {
    /// Contains the kubeconfig, and in it a private key.
    folder: TempDir,
}

impl Address {
    /// Serves the cluster until it is cancelled, and writes a kubeconfig with all permissions.
    pub(super) fn open(
        server: &Server,
        tasks: &TaskTracker,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        let listener = listen().map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        let authority = Authority::new("kubewright-test-ca")?;
        let serving = authority.issue(&Subject {
            common_name: "kube-apiserver".to_owned(),
            usage: Usage::Server,
            names: vec!["127.0.0.1".to_owned(), "localhost".to_owned()],
            ..Subject::default()
        })?;
        let identity = ServingIdentity {
            certificate_pem: serving.certificate_pem,
            key_pem: serving.key_pem,
            client_authority_pem: authority.certificate_pem(),
        };
        let admin = User::admin();
        let client = authority.issue(&Subject {
            common_name: admin.name,
            organizations: admin.groups,
            ..Subject::default()
        })?;
        let kubeconfig = Kubeconfig {
            server: format!("https://{address}"),
            authority_pem: authority.certificate_pem(),
            credentials: Credentials::Certificate(client),
            namespace: "default".to_owned(),
        };
        let address = Self { folder: folder()? };
        let path = address.kubeconfig();
        fs::write(&path, kubeconfig.to_text()).map_err(|source| Error::Write { path, source })?;
        let (server, stop) = (server.clone(), cancel.clone());
        tasks.spawn(async move {
            if let Err(error) = server.serve(listener, identity, stop).await {
                tracing::error!(%error, "serve the embedded cluster");
            }
        });
        Ok(address)
    }

    /// The kubeconfig file, which is deleted with the cluster.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("admin.kubeconfig")
    }
}

fn listen() -> io::Result<tokio::net::TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn folder() -> Result<TempDir, Error> {
    let owner_only = fs::Permissions::from_mode(0o700);
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("kubewright-").permissions(owner_only);
    builder.tempdir().map_err(|source| Error::Write {
        path: std::env::temp_dir(),
        source,
    })
}
