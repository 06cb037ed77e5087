//! Verification of the API server's certificate.

use std::path::Path;
use std::sync::Arc;

use kube::Config;
use kubewright_http::BundleVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier as PlatformVerifier;

use crate::client::connect_error::ConnectError;
use crate::client::credentials::Reloaded;

/// The verifier for a configuration: none at all, the authorities of a file, embedded authorities,
/// or the authorities of the machine.
pub(super) fn verifier(
    config: &Config,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, ConnectError> {
    if config.accept_invalid_certs {
        let schemes = provider
            .signature_verification_algorithms
            .supported_schemes();
        return Ok(Arc::new(AcceptAny { schemes }));
    }
    if let Some(path) = &config.root_cert_file {
        return Ok(Arc::new(ReloadedBundle(Reloaded::new(path.clone(), read)?)));
    }
    if let Some(certificates) = &config.root_cert {
        let authorities = certificates.iter().cloned().map(CertificateDer::from);
        let verifier = signed_by(authorities)?;
        return Ok(verifier);
    }
    let platform =
        PlatformVerifier::new(Arc::clone(provider)).map_err(|source| ConnectError::Tls {
            what: "the authorities of this machine",
            source,
        })?;
    Ok(Arc::new(platform))
}

fn signed_by(
    authorities: impl Iterator<Item = CertificateDer<'static>>,
) -> Result<Arc<BundleVerifier>, ConnectError> {
    let verifier =
        BundleVerifier::new(authorities.collect()).map_err(|source| ConnectError::Tls {
            what: "an authority of the cluster",
            source,
        })?;
    if verifier.is_empty() {
        return Err(ConnectError::NoAuthorities);
    }
    Ok(Arc::new(verifier))
}

fn read(path: &Path) -> Result<Arc<BundleVerifier>, ConnectError> {
    const WHAT: &str = "the authority of the cluster";
    let pem = std::fs::read(path).map_err(|source| ConnectError::File {
        what: WHAT,
        path: path.to_owned(),
        source,
    })?;
    let authorities = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| ConnectError::Pem { what: WHAT })?;
    signed_by(authorities.into_iter())
}

/// Trusts the authorities in a file, which is replaced when the cluster rotates them.
#[derive(Debug)]
struct ReloadedBundle(Reloaded<Arc<BundleVerifier>>);

impl ServerCertVerifier for ReloadedBundle {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verifier = self.0.current();
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.current().verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.current().verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.current().supported_verify_schemes()
    }
}

/// Trusts any certificate: `insecure-skip-tls-verify`.
#[derive(Debug)]
struct AcceptAny {
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
