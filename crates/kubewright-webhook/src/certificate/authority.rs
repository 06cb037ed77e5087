use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use kubewright_core::Clock;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use super::KeyPairPem;
use crate::Error;

/// How long the authority and what it issues are valid.
const DAYS: i32 = 365;

/// An authority of the operator's own, whose certificate goes into `caBundle` (ECDSA P-256).
///
/// ```
/// use kubewright_webhook::LocalAuthority;
///
/// let authority = LocalAuthority::new("my-operator webhooks")?;
/// let serving = authority.issue(&["my-operator-webhook.my-operator-system.svc"])?;
/// assert!(serving.certificate_pem.starts_with("-----BEGIN CERTIFICATE-----"));
/// # Ok::<(), kubewright_webhook::Error>(())
/// ```
pub struct LocalAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    first: Date,
    last: Date,
}

impl LocalAuthority {
    /// A new authority, valid from yesterday for a year by the machine's clock.
    pub fn new(common_name: &str) -> Result<Self, Error> {
        Self::valid_from(common_name, Clock::system().now())
    }

    /// A new authority, valid for a year from the day before `now`; so is what it issues.
    pub fn valid_from(common_name: &str, now: Timestamp) -> Result<Self, Error> {
        let today = now.to_zoned(TimeZone::UTC).date();
        let day = |days: i32| today.saturating_add(days.days());
        Self::valid_between(common_name, day(-1), day(DAYS))
    }

    /// A new authority, valid from the beginning of the first day to that of the last; so is what
    /// it issues.
    pub fn valid_between(common_name: &str, first: Date, last: Date) -> Result<Self, Error> {
        let failed = |source| Error::Make {
            what: "webhooks' certificate authority",
            source,
        };
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        limit(&mut params, first, last);
        let key = KeyPair::generate().map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(failed)?;
        Ok(Self {
            issuer,
            first,
            last,
        })
    }

    /// When it ends, and what it issues with it.
    pub fn expires(&self) -> Timestamp {
        let zoned = self.last.to_zoned(TimeZone::UTC);
        zoned.map_or(Timestamp::MAX, |zoned| zoned.timestamp())
    }

    /// The certificate that the API server trusts: the `caBundle` before base64.
    pub fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// Makes a key and a certificate to serve under these host names and addresses.
    pub fn issue(&self, names: &[&str]) -> Result<KeyPairPem, Error> {
        let failed = |source| Error::Make {
            what: "webhooks' serving certificate",
            source,
        };
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names.clone()).map_err(failed)?;
        // A common name has room for 64 characters, the names above for more.
        params
            .distinguished_name
            .push(DnType::CommonName, "webhook");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        limit(&mut params, self.first, self.last);
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok(KeyPairPem {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }
}

fn limit(params: &mut CertificateParams, first: Date, last: Date) {
    let midnight = |date: Date| {
        rcgen::date_time_ymd(
            i32::from(date.year()),
            date.month().unsigned_abs(),
            date.day().unsigned_abs(),
        )
    };
    params.not_before = midnight(first);
    params.not_after = midnight(last);
}

impl fmt::Debug for LocalAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalAuthority")
            .field("first", &self.first)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}
