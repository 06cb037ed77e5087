use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kubewright_http::pki::{Authority, Subject, Usage};
use tokio::net::{TcpListener, TcpStream};

use crate::error::Error;
use crate::kubeconfig::write_private;

const POLL: Duration = Duration::from_millis(50);

/// Where the operator serves its webhooks on this machine, with a certificate made for that.
#[derive(Debug)]
pub(super) struct Webhooks {
    address: SocketAddr,
    folder: PathBuf,
    authority: PathBuf,
}

impl Webhooks {
    /// Takes a free port and makes the certificate.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves at most files in the scratch folder.
    pub(super) async fn prepare(scratch: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Listen { port: 0, source };
        let free = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = free.local_addr().map_err(failed)?;
        let certificates = |source| Error::Certificates { source };
        let authority = Authority::new("kubewright-dev-webhooks").map_err(certificates)?;
        let subject = Subject {
            common_name: "webhooks".to_owned(),
            organizations: Vec::new(),
            usage: Usage::Server,
            names: vec!["127.0.0.1".to_owned()],
        };
        let serving = authority.issue(&subject).map_err(certificates)?;
        let folder = scratch.join("webhooks");
        std::fs::create_dir_all(&folder).map_err(|source| Error::File {
            action: "make",
            path: folder.clone(),
            source,
        })?;
        let certificate = folder.join("ca.crt");
        write_private(&certificate, &authority.certificate_pem())?;
        write_private(&folder.join("tls.crt"), &serving.certificate_pem)?;
        write_private(&folder.join("tls.key"), &serving.key_pem)?;
        Ok(Self {
            address,
            folder,
            authority: certificate,
        })
    }

    /// What the program's `manifests` is told.
    pub(super) fn manifest_flags(&self) -> [String; 4] {
        [
            "--webhook-url".to_owned(),
            format!("https://{}", self.address),
            "--webhook-ca".to_owned(),
            self.authority.display().to_string(),
        ]
    }

    /// What the program's `run` is told.
    pub(super) fn run_flags(&self) -> [String; 4] {
        [
            "--webhook-address".to_owned(),
            self.address.to_string(),
            "--webhook-certs".to_owned(),
            self.folder.display().to_string(),
        ]
    }

    /// Waits until the operator takes connections.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    pub(super) async fn serving(&self) {
        while TcpStream::connect(self.address).await.is_err() {
            tokio::time::sleep(POLL).await;
        }
    }
}
