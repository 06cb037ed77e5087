//! Verification of server certificates against a CA bundle, as Go does it.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::certificate::CertificateFields;

/// Trusts what Go's `crypto/x509` trusts with the given bundle: a server whose chain leads to a
/// certificate of the bundle, and a server whose own certificate is in it.
///
/// rustls alone accepts only the first. Bundles with the certificate of the server itself are
/// common: envtest writes them, and a self-signed certificate needs one.
#[derive(Debug)]
pub struct BundleVerifier {
    bundle: Vec<CertificateDer<'static>>,
    /// None for an empty bundle, which trusts no server.
    chains: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl BundleVerifier {
    /// Trusts these certificates; fails when one is malformed.
    pub fn new(bundle: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &bundle {
            roots.add(certificate.clone())?;
        }
        let provider = Arc::new(default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Self {
            bundle,
            chains: chains.ok(),
            algorithms,
        })
    }

    /// Whether the bundle has no certificate.
    pub fn is_empty(&self) -> bool {
        self.bundle.is_empty()
    }
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.bundle.iter().any(|trusted| trusted == end_entity) {
            return verify_alone(end_entity, server_name, now);
        }
        match &self.chains {
            Some(chains) => chains.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Verifies a certificate that is in the bundle itself: its dates, usage and names.
fn verify_alone(
    certificate: &CertificateDer<'_>,
    server_name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, rustls::Error> {
    let fields = CertificateFields::read(certificate).ok_or(CertificateError::BadEncoding)?;
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    if time < fields.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if time > fields.not_after {
        return Err(CertificateError::Expired.into());
    }
    if !fields.is_for_servers {
        return Err(CertificateError::InvalidPurpose.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
    Ok(ServerCertVerified::assertion())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{
        BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
        date_time_ymd,
    };
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::{CertificateError, Error};
    use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

    use super::BundleVerifier;

    /// 2026-01-01.
    const NOW: u64 = 1_767_225_600;

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2025, 1, 1);
        params.not_after = date_time_ymd(2027, 1, 1);
        params
    }

    /// A certificate for the name, signed by an authority, and the authority.
    fn signed(params: &CertificateParams) -> [CertificateDer<'static>; 2] {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let of_authority = authority.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::new(authority, key);
        let own_key = KeyPair::generate().unwrap();
        let own = params.signed_by(&own_key, &issuer).unwrap().der().clone();
        [own, of_authority]
    }

    fn verify(bundle: &CertificateDer<'static>, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let verifier = BundleVerifier::new(vec![bundle.clone()]).unwrap();
        let name = ServerName::try_from("hook.example.com").unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
        let verified = verifier.verify_server_cert(shown, &[], &name, &[], now);
        verified.map(drop)
    }

    #[test]
    fn certificate_is_trusted_if_its_authority_or_itself_is_in_the_bundle() {
        let [own, authority] = signed(&params("hook.example.com"));
        assert_eq!(verify(&authority, &own), Ok(()));
        assert_eq!(verify(&own, &own), Ok(()));
        let [other, _] = signed(&params("hook.example.com"));
        assert!(verify(&other, &own).is_err());
    }

    #[test]
    fn self_signed_authority_certificate_is_trusted_if_it_is_in_the_bundle() {
        let mut both = params("hook.example.com");
        both.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let own = both.self_signed(&key).unwrap().der().clone();
        assert_eq!(verify(&own, &own), Ok(()));
    }

    #[test]
    fn dates_names_and_usages_are_checked_for_a_certificate_in_the_bundle() {
        let wrong = |change: &dyn Fn(&mut CertificateParams), name: &str| {
            let mut params = params(name);
            change(&mut params);
            let [own, _] = signed(&params);
            verify(&own, &own).unwrap_err()
        };
        let name = "hook.example.com";
        let past = |params: &mut CertificateParams| params.not_after = date_time_ymd(2025, 6, 1);
        assert_eq!(wrong(&past, name), CertificateError::Expired.into());
        let future = |params: &mut CertificateParams| params.not_before = date_time_ymd(2026, 6, 1);
        assert_eq!(wrong(&future, name), CertificateError::NotValidYet.into());
        let client = |params: &mut CertificateParams| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        };
        assert_eq!(
            wrong(&client, name),
            CertificateError::InvalidPurpose.into()
        );
        assert!(matches!(
            wrong(&|_| {}, "other.example.com"),
            Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. })
        ));
    }

    #[test]
    fn empty_bundle_trusts_no_server() {
        let verifier = BundleVerifier::new(Vec::new()).unwrap();
        assert!(verifier.is_empty());
        let [own, _] = signed(&params("hook.example.com"));
        let name = ServerName::try_from("hook.example.com").unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
        let verified = verifier.verify_server_cert(&own, &[], &name, &[], now);
        let unknown = CertificateError::UnknownIssuer;
        assert_eq!(verified.map(drop), Err(unknown.into()));
    }
}
