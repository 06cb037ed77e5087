//! The process of a subject that serves a webhook.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kubewright_http::pki::{Authority, Subject, Usage};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

use super::connection::{Connection, tls_connector};
use crate::error::Error;
use crate::inject::fixture;
use crate::program::Built;

const READY_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The serving certificate of all subjects, and a connector that trusts it.
pub(crate) struct Identity {
    folder: TempDir,
    pub(super) connector: TlsConnector,
}

impl Identity {
    /// Creates a certificate authority and a certificate for localhost (ECDSA P-256).
    pub(crate) fn new() -> Result<Self, Error> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| Error::Certificates(error);
        let authority = Authority::new("kubewright-bench").map_err(|e| failed(e.into()))?;
        let serving = authority
            .issue(&Subject {
                common_name: "webhook".to_owned(),
                organizations: Vec::new(),
                usage: Usage::Server,
                names: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
            })
            .map_err(|error| failed(error.into()))?;
        let folder = tempfile::tempdir().map_err(|error| failed(error.into()))?;
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).map_err(|error| failed(error.into()))
        };
        write("tls.crt", &serving.certificate_pem)?;
        write("tls.key", &serving.key_pem)?;
        let connector =
            tls_connector(&authority.certificate_pem()).map_err(|reason| failed(reason.into()))?;
        Ok(Self { folder, connector })
    }

    /// Returns the folder of tls.crt and tls.key.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns a free port on the loopback interface. Another process can take it before it is used.
pub(crate) fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// A subject that serves its webhook. Dropping the value ends the process.
#[derive(Debug)]
pub(super) struct ServingProcess {
    child: Child,
    pub(super) port: u16,
}

impl ServingProcess {
    /// Starts a subject and waits until it accepts connections.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the subject.
    pub(super) async fn start(built: &Built, identity: &Identity) -> Result<Self, Error> {
        let failed = |source| Error::Spawn {
            command: built.program.display().to_string(),
            source,
        };
        let port = free_port().map_err(failed)?;
        let child = Command::new(&built.program)
            .arg(format!("--sidecars={}", fixture("sidecars.json").display()))
            .arg(format!("--certs={}", identity.folder().display()))
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let start = Instant::now();
        while let Err(reason) = Connection::open(&identity.connector, port).await {
            if start.elapsed() > READY_TIMEOUT {
                return Err(Error::Webhook {
                    subject: built.subject,
                    reason: format!("not ready after {READY_TIMEOUT:?}: {reason}"),
                });
            }
            sleep(POLL_INTERVAL).await;
        }
        Ok(Self { child, port })
    }

    /// Returns the id of the process; none if it has ended.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.child.id().into_iter().collect()
    }
}
