//! The TLS identity of a server.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::error::Error;

/// The certificate of a server on a socket, and the authority of its clients.
#[derive(Clone, PartialEq, Eq)]
pub struct ServingIdentity {
    /// The certificate, followed by intermediate certificates, if any (PEM).
    pub certificate_pem: String,
    /// The private key of the certificate (PEM).
    pub key_pem: String,
    /// The certificate authority of clients (PEM).
    pub client_authority_pem: String,
}

impl ServingIdentity {
    /// The TLS configuration. A client certificate is optional, since clients can send a token. A
    /// certificate of another authority ends the connection.
    pub(super) fn tls(&self) -> Result<Arc<ServerConfig>, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("client authority", &self.client_authority_pem)? {
            roots.add(certificate).map_err(Error::Authority)?;
        }
        let provider = Arc::new(default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
            .allow_unauthenticated()
            .build()
            .map_err(Error::Verifier)?;
        let chain = certificates("certificate", &self.certificate_pem)?;
        let key = PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).map_err(|source| {
            Error::Pem {
                what: "key",
                source,
            }
        })?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Error::Identity)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(Error::Identity)?;
        #[cfg(feature = "http2")]
        config.alpn_protocols.push(b"h2".to_vec());
        config.alpn_protocols.push(b"http/1.1".to_vec());
        Ok(Arc::new(config))
    }
}

fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| Error::Pem { what, source })?;
    if certificates.is_empty() {
        return Err(Error::NoCertificate { what });
    }
    Ok(certificates)
}

/// Leaves out the key.
impl fmt::Debug for ServingIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingIdentity")
            .field("certificate_pem", &self.certificate_pem)
            .field("client_authority_pem", &self.client_authority_pem)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_http::pki::{Authority, Subject, Usage};

    use super::ServingIdentity;

    fn identity() -> ServingIdentity {
        let authority = Authority::new("ca").unwrap();
        let subject = Subject {
            common_name: "server".to_owned(),
            usage: Usage::Server,
            names: vec!["localhost".to_owned()],
            ..Subject::default()
        };
        let issued = authority.issue(&subject).unwrap();
        ServingIdentity {
            certificate_pem: issued.certificate_pem,
            key_pem: issued.key_pem,
            client_authority_pem: authority.certificate_pem(),
        }
    }

    #[test]
    fn error_of_an_invalid_identity_names_the_part() {
        let good = identity();
        assert!(good.tls().is_ok());
        let error = |identity: ServingIdentity| identity.tls().unwrap_err().to_string();
        let without = |part: &str| {
            let mut identity = good.clone();
            let text = match part {
                "key" => &mut identity.key_pem,
                "certificate" => &mut identity.certificate_pem,
                _ => &mut identity.client_authority_pem,
            };
            text.clear();
            error(identity)
        };
        assert_eq!(
            without("certificate"),
            "read the certificate of the serving identity: it has no certificate"
        );
        assert_eq!(
            without("key"),
            "read the key of the serving identity: it must be PEM"
        );
        assert_eq!(
            without("authority"),
            "read the client authority of the serving identity: it has no certificate"
        );
        let mixed = ServingIdentity {
            key_pem: identity().key_pem,
            ..good.clone()
        };
        assert_eq!(
            error(mixed),
            "use the serving identity: the key must belong to the first certificate"
        );
    }

    #[test]
    fn key_is_not_in_the_debug_output() {
        let identity = identity();
        let key = identity.key_pem.lines().nth(1).unwrap();
        assert!(!format!("{identity:?}").contains(key));
    }
}
