//! A certificate with its private key.

use std::fmt;

/// A certificate and its private key, as text.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyPairPem {
    /// The certificate, followed by the intermediate certificates, if any.
    pub certificate_pem: String,
    /// The private key of the certificate (PKCS #8).
    pub key_pem: String,
}

/// Omits the private key.
impl fmt::Debug for KeyPairPem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPairPem")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}
