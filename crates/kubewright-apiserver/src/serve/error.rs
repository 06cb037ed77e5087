//! Errors of serving on a socket.

/// Why a server cannot serve on a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text has no readable certificate or key.
    #[error("read the {what} of the serving identity: it must be PEM")]
    Pem {
        /// The part of the identity.
        what: &'static str,
        /// The error of the parser.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// The text has no certificate.
    #[error("read the {what} of the serving identity: it has no certificate")]
    NoCertificate {
        /// The part of the identity.
        what: &'static str,
    },
    /// The certificates and the key cannot be used together.
    #[error("use the serving identity: the key must belong to the first certificate")]
    Identity(#[source] rustls::Error),
    /// The certificate of the authority cannot be used to verify clients.
    #[error(
        "trust the client authority of the serving identity: it must be the certificate of an \
         authority"
    )]
    Authority(#[source] rustls::Error),
    /// The verifier of client certificates cannot be built.
    #[error("build the verifier of client certificates from the serving identity")]
    Verifier(#[source] rustls::server::VerifierBuilderError),
}
