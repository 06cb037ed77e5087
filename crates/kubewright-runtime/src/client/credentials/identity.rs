//! Client certificates.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::AuthInfo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::ExposeSecret as _;

use crate::client::connect_error::ConnectError;

const CERTIFICATE: &str = "the client certificate";
const KEY: &str = "the client key";

/// A client certificate with its chain and its key.
pub(in crate::client) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// The client certificate that a kubeconfig has for a user. Embedded data takes precedence over
    /// a file.
    pub(super) fn of(user: &AuthInfo) -> Result<Option<Arc<Self>>, ConnectError> {
        let certificate_data = user.client_certificate_data.as_deref();
        let certificate_file = user.client_certificate.as_deref();
        let certificate = pem(CERTIFICATE, certificate_data, certificate_file)?;
        let key_data = user.client_key_data.as_ref();
        let key_data = key_data.map(|secret| secret.expose_secret());
        let key = pem(KEY, key_data, user.client_key.as_deref())?;
        let half = |present, missing| Err(ConnectError::Half { present, missing });
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(_), None) => half(CERTIFICATE, KEY),
            (None, Some(_)) => half(KEY, CERTIFICATE),
            (Some(certificate), Some(key)) => Self::from_pem(&certificate, &key).map(Some),
        }
    }

    pub(super) fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Arc<Self>, ConnectError> {
        let chain = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| ConnectError::Pem { what: CERTIFICATE })?;
        if chain.is_empty() {
            return Err(ConnectError::Pem { what: CERTIFICATE });
        }
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|_| ConnectError::Pem { what: KEY })?;
        Ok(Arc::new(Self { chain, key }))
    }

    /// The chain and the key, for TLS.
    pub(in crate::client) fn to_parts(
        &self,
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.chain.clone(), self.key.clone_key())
    }
}

/// The PEM of base64 data, else of a file.
fn pem(
    what: &'static str,
    data: Option<&str>,
    file: Option<&str>,
) -> Result<Option<Vec<u8>>, ConnectError> {
    let is_set = |text: &&str| !text.is_empty();
    if let Some(data) = data.filter(is_set) {
        let decoded = STANDARD.decode(data);
        return decoded.map(Some).map_err(|_| ConnectError::Base64 { what });
    }
    let Some(path) = file.filter(is_set).map(Path::new) else {
        return Ok(None);
    };
    let read = std::fs::read(path).map_err(|source| ConnectError::File {
        what,
        path: path.to_owned(),
        source,
    });
    read.map(Some)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use kube::config::AuthInfo;
    use tempfile::TempDir;

    use super::Identity;
    use crate::client::connect_error::ConnectError;

    /// Only the PEM encoding matters here: TLS checks whether certificate and key belong together.
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n";

    #[test]
    fn data_takes_precedence_over_the_file_and_both_parts_are_required() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("key");
        let path = Some(file.to_str().unwrap().to_owned());
        let mut user = AuthInfo {
            client_certificate: Some("/nowhere".to_owned()),
            client_certificate_data: Some(STANDARD.encode(CERTIFICATE)),
            ..AuthInfo::default()
        };
        assert!(matches!(
            Identity::of(&user),
            Err(ConnectError::Half { .. })
        ));
        user.client_key = path;
        assert!(matches!(
            Identity::of(&user),
            Err(ConnectError::File { .. })
        ));
        fs::write(&file, "sesame").unwrap();
        assert!(matches!(Identity::of(&user), Err(ConnectError::Pem { .. })));
        fs::write(&file, KEY).unwrap();
        let identity = Identity::of(&user).unwrap().unwrap();
        let (chain, key) = identity.to_parts();
        assert_eq!(chain[0].to_vec(), [0, 0, 0]);
        assert_eq!(key.secret_der().to_vec(), [4, 16, 65]);
        assert!(Identity::of(&AuthInfo::default()).unwrap().is_none());
    }
}
