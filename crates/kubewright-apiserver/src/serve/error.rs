//! Errors of serving on a socket.

/// Why a server cannot serve on a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text holds no certificate or key that can be read.
    #[error("read the {what} of the serving identity: give it as PEM")]
    Pem {
        /// Which of its parts.
        what: &'static str,
        /// Why it cannot be read.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// There is no certificate in the text.
    #[error("read the {what} of the serving identity: there is no certificate in it")]
    NoCertificate {
        /// Which of its parts.
        what: &'static str,
    },
    /// The certificates and the key cannot be used together.
    #[error("use the serving identity: the key must belong to the first certificate")]
    Identity(#[source] rustls::Error),
    /// The certificate of the authority cannot be used to verify clients.
    #[error("trust the client authority of the serving identity: give an authority's certificate")]
    Authority(#[source] rustls::Error),
    /// The verifier of client certificates could not be made.
    #[error("verify clients by the client authority of the serving identity")]
    Verifier(#[source] rustls::server::VerifierBuilderError),
}
