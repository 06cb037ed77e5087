//! Serving certificates in files, which are read again when they change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kubewright_http::pki::KeyPairPem;
use tokio_util::sync::CancellationToken;

use super::certificates::Certificates;
use crate::error::Error;

/// How often the files are read again; the interval of controller-runtime.
const INTERVAL: Duration = Duration::from_secs(10);

/// A serving certificate in a folder, such as a mounted Secret: `tls.crt` and `tls.key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    folder: PathBuf,
    certificate: String,
    key: String,
}

impl CertificateFiles {
    /// The files in that folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            certificate: "tls.crt".to_owned(),
            key: "tls.key".to_owned(),
        }
    }

    /// Sets other file names than `tls.crt` and `tls.key`.
    #[must_use]
    pub fn named(self, certificate: &str, key: &str) -> Self {
        Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            ..self
        }
    }

    /// Reads both files.
    pub fn read(&self) -> Result<KeyPairPem, Error> {
        Ok(KeyPairPem {
            certificate_pem: read_text(&self.folder.join(&self.certificate))?,
            key_pem: read_text(&self.folder.join(&self.key))?,
        })
    }

    /// Replaces the certificate when the files have changed, until `stop`. The files are read every
    /// ten seconds. If they are invalid, this is logged and the former certificate stays.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the current certificate stays.
    pub async fn follow(&self, certificates: Certificates, stop: CancellationToken) {
        let mut known = self.read().ok();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(INTERVAL) => {}
            }
            let read = self.read();
            if read.as_ref().ok() == known.as_ref() {
                continue;
            }
            let replaced = read.and_then(|pair| certificates.replace(&pair).map(|()| pair));
            match replaced {
                Ok(pair) => {
                    tracing::info!(folder = %self.folder.display(), "serving certificate replaced");
                    known = Some(pair);
                }
                // The two files are not written atomically: the next read may find both.
                Err(error) => tracing::warn!(%error, "keep the former serving certificate"),
            }
        }
    }
}

fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}
