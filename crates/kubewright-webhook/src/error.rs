use std::path::PathBuf;

/// Why webhooks cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the serving certificate cannot be read.
    #[error("read {path} of the webhooks' serving certificate: put tls.crt and tls.key there")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A text holds no certificate or key.
    #[error("read the {what} of the webhooks' serving certificate: give it as PEM")]
    Pem {
        /// Which part.
        what: &'static str,
        /// Why not.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// There is no certificate in the text.
    #[error("read the webhooks' serving certificate: there is no certificate in it")]
    NoCertificate,
    /// The certificate and the key cannot be used together.
    #[error("use the webhooks' serving certificate: the key must belong to the first certificate")]
    Unusable(#[source] rustls::Error),
    /// A certificate could not be made.
    #[error("make the {what}")]
    Make {
        /// What was to be made.
        what: &'static str,
        /// Why not.
        #[source]
        source: rcgen::Error,
    },
}
