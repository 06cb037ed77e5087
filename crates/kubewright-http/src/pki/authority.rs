//! The certificate authority, and keys that sign tokens.

use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use kubewright_core::Clock;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    SigningKey as _,
};

use super::error::Error;
use super::key_pair::KeyPairPem;
use super::subject::{self, Subject, Usage};

/// The default validity of a certificate.
const DEFAULT_DAYS: u16 = 30;

/// A certificate authority that signs the identities of one cluster.
///
/// ```
/// use kubewright_http::pki::{Authority, Subject, Usage};
///
/// let authority = Authority::new("example-ca")?;
/// let server = authority.issue(&Subject {
///     common_name: "kube-apiserver".to_owned(),
///     usage: Usage::Server,
///     names: vec!["127.0.0.1".to_owned(), "localhost".to_owned()],
///     ..Subject::default()
/// })?;
/// assert!(server.certificate_pem.starts_with("-----BEGIN CERTIFICATE-----"));
/// # Ok::<(), kubewright_http::pki::Error>(())
/// ```
#[derive(Clone)]
pub struct Authority {
    issuer: Arc<CertifiedIssuer<'static, KeyPair>>,
    validity: Validity,
}

impl Authority {
    /// A new authority. It and the certificates that it issues are valid for 30 days from today.
    pub fn new(common_name: &str) -> Result<Self, Error> {
        Self::valid_from(common_name, Clock::system().now(), DEFAULT_DAYS)
    }

    /// An authority with an existing key (PKCS #8): certificates that it issued before stay valid.
    pub fn with_key(common_name: &str, key_pem: &str) -> Result<Self, Error> {
        let failed = |source| Error::new("read the key of an authority", common_name, source);
        let key = KeyPair::from_pem(key_pem).map_err(failed)?;
        let validity = Validity::new(Clock::system().now(), DEFAULT_DAYS);
        Self::self_signed(common_name, key, validity)
    }

    /// A new authority. It and the certificates that it issues are valid for `days` whole days
    /// after the day of `now`.
    ///
    /// Validity begins a day early, so that a peer whose clock is behind accepts it.
    pub fn valid_from(common_name: &str, now: Timestamp, days: u16) -> Result<Self, Error> {
        let failed = |source| Error::new("make a certificate authority", common_name, source);
        let key = KeyPair::generate().map_err(failed)?;
        Self::self_signed(common_name, key, Validity::new(now, days))
    }

    /// A new authority. It and the certificates that it issues are valid from the beginning of the
    /// first day to the beginning of the last.
    pub fn valid_between(common_name: &str, first: Date, last: Date) -> Result<Self, Error> {
        let failed = |source| Error::new("make a certificate authority", common_name, source);
        let key = KeyPair::generate().map_err(failed)?;
        Self::self_signed(common_name, key, Validity { first, last })
    }

    /// When its certificate expires, and the certificates that it issues.
    pub fn expires(&self) -> Timestamp {
        let zoned = self.validity.last.to_zoned(TimeZone::UTC);
        zoned.map_or(Timestamp::MAX, |zoned| zoned.timestamp())
    }

    fn self_signed(common_name: &str, key: KeyPair, validity: Validity) -> Result<Self, Error> {
        let failed = |source| Error::new("make a certificate authority", common_name, source);
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        validity.limit(&mut params);
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(failed)?;
        Ok(Self {
            issuer: Arc::new(issuer),
            validity,
        })
    }

    /// The authority's certificate, which clients trust.
    pub fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// The authority's private key (PKCS #8), for a controller that signs on its behalf.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// Issues a certificate and key for a server with these host names and addresses.
    pub fn issue_server(&self, names: &[&str]) -> Result<KeyPairPem, Error> {
        self.issue(&Subject {
            // A host name does not always fit: a common name has at most 64 characters.
            common_name: "server".to_owned(),
            usage: Usage::Server,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            ..Subject::default()
        })
    }

    /// Issues a certificate and key for `subject`.
    pub fn issue(&self, subject: &Subject) -> Result<KeyPairPem, Error> {
        const TRIED: &str = "issue a certificate";
        let failed = |source| Error::new(TRIED, &subject.common_name, source);
        let mut params = CertificateParams::new(subject.names.clone()).map_err(failed)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = subject.usage.purposes();
        params.use_authority_key_identifier_extension = true;
        self.validity.limit(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let unnamed = params.signed_by(&key, &self.issuer).map_err(failed)?;
        let to_be_signed = subject::name_certificate(unnamed.der(), subject)
            .ok_or_else(|| Error::malformed(TRIED, &subject.common_name))?;
        let signature = self.issuer.key().sign(&to_be_signed.body).map_err(failed)?;
        Ok(KeyPairPem {
            certificate_pem: to_be_signed.certificate_pem(&signature),
            key_pem: key.serialize_pem(),
        })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("validity", &self.validity)
            .finish_non_exhaustive()
    }
}

/// A key pair without a certificate, which signs and verifies ServiceAccount tokens.
#[derive(Clone)]
pub struct SigningKey {
    /// The private key (PKCS #8).
    pub private_pem: String,
    /// The public key.
    pub public_pem: String,
}

impl SigningKey {
    /// A new key pair.
    pub fn generate() -> Result<Self, Error> {
        let key = KeyPair::generate()
            .map_err(|source| Error::new("make a key pair", "token signing", source))?;
        Ok(Self {
            private_pem: key.serialize_pem(),
            public_pem: key.public_key_pem(),
        })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public_pem", &self.public_pem)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Validity {
    first: Date,
    last: Date,
}

impl Validity {
    fn new(now: Timestamp, days: u16) -> Self {
        let today = now.to_zoned(TimeZone::UTC).date();
        Self {
            first: today.saturating_sub(1.day()),
            last: today.saturating_add(i64::from(days).days()),
        }
    }

    fn limit(self, params: &mut CertificateParams) {
        let midnight = |date: Date| {
            let part = |number: i8| number.unsigned_abs();
            rcgen::date_time_ymd(date.year().into(), part(date.month()), part(date.day()))
        };
        params.not_before = midnight(self.first);
        params.not_after = midnight(self.last);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier;
    use rustls::server::WebPkiClientVerifier;
    use rustls_pki_types::pem::PemObject;
    use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

    use super::Authority;
    use crate::pki::{Subject, Usage};

    const START: &str = "2026-03-01T12:00:00Z";

    fn authority() -> Authority {
        Authority::valid_from("test-ca", START.parse().unwrap(), 30).unwrap()
    }

    fn der(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    fn roots(authority: &Authority) -> std::sync::Arc<rustls::RootCertStore> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(der(&authority.certificate_pem())).unwrap();
        roots.into()
    }

    fn after(days: u64) -> UnixTime {
        let start: jiff::Timestamp = START.parse().unwrap();
        let seconds = u64::try_from(start.as_second()).unwrap();
        UnixTime::since_unix_epoch(Duration::from_secs(seconds + days * 86_400))
    }

    fn server_is_accepted(authority: &Authority, pem: &str, name: &str, time: UnixTime) -> bool {
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        WebPkiServerVerifier::builder_with_provider(roots(authority), provider)
            .build()
            .unwrap()
            .verify_server_cert(
                &der(pem),
                &[],
                &ServerName::try_from(name.to_owned()).unwrap(),
                &[],
                time,
            )
            .is_ok()
    }

    #[test]
    fn server_is_accepted_under_each_of_its_names_while_it_is_valid() {
        let authority = authority();
        let identity = authority
            .issue(&Subject {
                common_name: "kube-apiserver".to_owned(),
                usage: Usage::Server,
                names: vec!["127.0.0.1".to_owned(), "localhost".to_owned()],
                ..Subject::default()
            })
            .unwrap();
        let accepted = |name, days| {
            server_is_accepted(&authority, &identity.certificate_pem, name, after(days))
        };
        assert!(accepted("127.0.0.1", 0));
        assert!(accepted("localhost", 29));
        assert!(!accepted("localhost", 31));
        assert!(!accepted("example.com", 0));
    }

    #[test]
    fn client_with_several_groups_is_accepted_only_by_its_own_authority() {
        let (authority, other) = (authority(), authority());
        let identity = authority
            .issue(&Subject {
                common_name: "jane".to_owned(),
                organizations: ["one", "two", "three"].map(str::to_owned).to_vec(),
                usage: Usage::Client,
                ..Subject::default()
            })
            .unwrap();
        let accepted = |by: &Authority| {
            let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
            WebPkiClientVerifier::builder_with_provider(roots(by), provider)
                .build()
                .unwrap()
                .verify_client_cert(&der(&identity.certificate_pem), &[], after(1))
                .is_ok()
        };
        assert!(accepted(&authority));
        assert!(!accepted(&other));
        let bytes = der(&identity.certificate_pem);
        for text in ["jane", "one", "two", "three"] {
            assert!(
                bytes
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
            );
        }
    }

    #[test]
    fn invalid_host_name_fails_with_an_error_that_names_the_subject() {
        let error = authority()
            .issue(&Subject {
                common_name: "odd".to_owned(),
                names: vec!["sn\u{f6}w".to_owned()],
                ..Subject::default()
            })
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "issue a certificate for \"odd\"; check its names"
        );
    }
}
