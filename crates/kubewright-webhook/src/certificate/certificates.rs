//! The serving certificate, which can be replaced while the server runs.

use std::fmt;
use std::sync::Arc;

use kubewright_http::pki::KeyPairPem;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::Error;

/// The serving certificate, which can be replaced while the server runs: open connections continue
/// with the one of their handshake. Clones share it.
#[derive(Clone)]
pub struct Certificates {
    current: Arc<Current>,
}

#[derive(Default)]
struct Current(RwLock<Option<Arc<CertifiedKey>>>);

impl Certificates {
    /// Serves with this certificate.
    pub fn new(pair: &KeyPairPem) -> Result<Self, Error> {
        let certificates = Self::none();
        certificates.replace(pair)?;
        Ok(certificates)
    }

    /// Has no certificate yet: handshakes fail until [`replace`](Self::replace) is called.
    pub fn none() -> Self {
        Self {
            current: Arc::default(),
        }
    }

    /// Serves with this certificate from now on. If it is invalid, the former one stays.
    pub fn replace(&self, pair: &KeyPairPem) -> Result<(), Error> {
        let key = Arc::new(certified(pair)?);
        *self.current.0.write() = Some(key);
        Ok(())
    }

    /// The TLS settings of the server: TLS 1.2 and later, with these protocols in ALPN.
    pub fn tls(&self, protocols: &[&str]) -> Result<Arc<ServerConfig>, Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(Error::Unusable)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        Ok(Arc::new(config))
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.read().clone()
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").finish_non_exhaustive()
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

fn certified(pair: &KeyPairPem) -> Result<CertifiedKey, Error> {
    let pem = |what| move |source| Error::Pem { what, source };
    let chain = CertificateDer::pem_slice_iter(pair.certificate_pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(pem("certificate"))?;
    if chain.is_empty() {
        return Err(Error::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(pair.key_pem.as_bytes()).map_err(pem("key"))?;
    CertifiedKey::from_der(chain, key, &default_provider()).map_err(Error::Unusable)
}

#[cfg(test)]
mod tests {
    use kubewright_http::pki::{Authority, KeyPairPem};

    use super::Certificates;

    fn pair() -> KeyPairPem {
        let authority = Authority::new("ca").unwrap();
        authority.issue_server(&["localhost"]).unwrap()
    }

    #[test]
    fn invalid_certificate_is_an_error_and_the_former_one_stays() {
        let valid = pair();
        let certificates = Certificates::new(&valid).unwrap();
        let current = || certificates.current.0.read().clone().unwrap().cert.clone();
        let before = current();
        let mixed = KeyPairPem {
            key_pem: pair().key_pem,
            ..valid.clone()
        };
        let none = KeyPairPem {
            certificate_pem: String::new(),
            ..valid
        };
        assert_eq!(
            certificates.replace(&mixed).unwrap_err().to_string(),
            "use the webhooks' serving certificate: the key must belong to the first certificate"
        );
        assert_eq!(
            certificates.replace(&none).unwrap_err().to_string(),
            "read the webhooks' serving certificate: there is no certificate in it"
        );
        assert_eq!(before, current());
        certificates.replace(&pair()).unwrap();
        assert_ne!(before, current());
    }

    #[test]
    fn debug_output_omits_the_key() {
        let pair = pair();
        let key = pair.key_pem.lines().nth(1).unwrap();
        assert!(!format!("{pair:?}").contains(key));
    }
}
