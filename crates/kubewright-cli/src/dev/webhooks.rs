//! The address and the certificate of webhooks that the operator serves on this machine.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kubewright_http::pki::{Authority, Subject, Usage};
use tokio::net::{TcpListener, TcpStream};

use crate::error::Error;
use crate::private_file::replace_private;

const POLL: Duration = Duration::from_millis(50);

/// The address and the certificate of webhooks on this machine.
#[derive(Debug)]
pub(super) struct Webhooks {
    address: SocketAddr,
    folder: PathBuf,
    authority: PathBuf,
}

impl Webhooks {
    /// Finds a free port and issues a certificate.
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
            action: "create",
            path: folder.clone(),
            source,
        })?;
        let ca_file = folder.join("ca.crt");
        write(&ca_file, &authority.certificate_pem())?;
        write(&folder.join("tls.crt"), &serving.certificate_pem)?;
        write(&folder.join("tls.key"), &serving.key_pem)?;
        Ok(Self {
            address,
            folder,
            authority: ca_file,
        })
    }

    /// Returns the flags for the program's `manifests`.
    pub(super) fn manifest_flags(&self) -> [String; 4] {
        [
            "--webhook-url".to_owned(),
            format!("https://{}", self.address),
            "--webhook-ca".to_owned(),
            self.authority.display().to_string(),
        ]
    }

    /// Returns the flags for the program's `run`.
    pub(super) fn run_flags(&self) -> [String; 4] {
        [
            "--webhook-address".to_owned(),
            self.address.to_string(),
            "--webhook-certs".to_owned(),
            self.folder.display().to_string(),
        ]
    }

    /// Waits until the operator accepts connections.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only connects.
    pub(super) async fn wait_until_serving(&self) {
        while TcpStream::connect(self.address).await.is_err() {
            tokio::time::sleep(POLL).await;
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    replace_private(path, text).map_err(|source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}
