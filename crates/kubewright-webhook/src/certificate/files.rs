use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Certificates, KeyPairPem};
use crate::Error;

/// How often the files are read again; controller-runtime's own number.
const INTERVAL: Duration = Duration::from_secs(10);

/// A serving certificate in a folder, as a mounted Secret has it: `tls.crt` and `tls.key`.
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

    /// The same folder, where the files have other names than `tls.crt` and `tls.key`.
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
            certificate_pem: text(&self.folder.join(&self.certificate))?,
            key_pem: text(&self.folder.join(&self.key))?,
        })
    }

    /// Replaces the certificate whenever the files have changed, looking every ten seconds, until
    /// it is stopped. Files that cannot be used are logged, and the former certificate stays.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
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
                // Both files are not written at once: the next look may find them whole.
                Err(error) => tracing::warn!(%error, "keep the former serving certificate"),
            }
        }
    }
}

fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}
