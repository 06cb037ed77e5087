//! The errors of this crate.

use std::path::PathBuf;

/// An error of the serving certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the serving certificate cannot be read.
    #[error("read {path} of the webhooks' serving certificate: put tls.crt and tls.key there")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The text is not a valid certificate or key.
    #[error("read the {what} of the webhooks' serving certificate: give it as PEM")]
    Pem {
        /// `certificate` or `key`.
        what: &'static str,
        /// The cause.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// The text contains no certificate.
    #[error("read the webhooks' serving certificate: there is no certificate in it")]
    NoCertificate,
    /// The certificate and the key cannot be used together.
    #[error("use the webhooks' serving certificate: the key must belong to the first certificate")]
    Unusable(#[source] rustls::Error),
    /// A certificate could not be issued.
    #[error("make the webhooks' serving certificate")]
    Make(#[from] kubewright_http::pki::Error),
}
