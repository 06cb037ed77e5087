//! The fields of an X.509 certificate that rustls does not hand out.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::der::{GENERALIZED_TIME, OBJECT_IDENTIFIER, OCTET_STRING, Reader, SEQUENCE, UTC_TIME};

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const ANY_USAGE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
const SERVER_AUTHENTICATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

/// The explicitly tagged version in front of a certificate's serial number.
const VERSION: u8 = 0xa0;
/// The explicitly tagged extensions at the end of a certificate.
const EXTENSIONS: u8 = 0xa3;

/// Some fields of a certificate. They are only read: nothing here is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFields {
    /// The common names of the subject, in their order.
    pub common_names: Vec<String>,
    /// The organizations of the subject, in their order.
    pub organizations: Vec<String>,
    /// The first instant at which it is valid.
    pub not_before: Timestamp,
    /// The last instant at which it is valid.
    pub not_after: Timestamp,
    /// Whether a server may identify itself with it: without extended key usages any use is
    /// allowed.
    pub is_for_servers: bool,
}

impl CertificateFields {
    /// Reads a certificate in DER; `None` when it is malformed.
    pub fn read(der: &[u8]) -> Option<Self> {
        let certificate = Reader(der).next_of(SEQUENCE)?;
        let mut fields = Reader(Reader(certificate).next_of(SEQUENCE)?);
        let (tag, _) = fields.next()?;
        if tag == VERSION {
            fields.next()?; // the serial number
        }
        fields.next()?; // the signature's algorithm
        fields.next()?; // the issuer
        let mut validity = Reader(fields.next_of(SEQUENCE)?);
        let mut validity_time = || {
            let (tag, content) = validity.next()?;
            time(tag, content)
        };
        let (not_before, not_after) = (validity_time()?, validity_time()?);
        let mut read = Self {
            common_names: Vec::new(),
            organizations: Vec::new(),
            not_before,
            not_after,
            is_for_servers: true,
        };
        read.subject(Reader(fields.next_of(SEQUENCE)?))?;
        fields.next()?; // the public key
        while let Some((tag, content)) = fields.next() {
            if tag == EXTENSIONS {
                read.extensions(Reader(Reader(content).next_of(SEQUENCE)?))?;
            }
        }
        Some(read)
    }

    fn subject(&mut self, mut subject: Reader<'_>) -> Option<()> {
        while let Some((_, set)) = subject.next() {
            let mut attributes = Reader(set);
            while let Some(content) = attributes.next_of(SEQUENCE) {
                let mut attribute = Reader(content);
                let kind = attribute.next_of(OBJECT_IDENTIFIER)?;
                let (_, value) = attribute.next()?;
                let text = String::from_utf8(value.to_vec()).ok()?;
                match kind {
                    COMMON_NAME => self.common_names.push(text),
                    ORGANIZATION => self.organizations.push(text),
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn extensions(&mut self, mut extensions: Reader<'_>) -> Option<()> {
        while let Some(content) = extensions.next_of(SEQUENCE) {
            let mut extension = Reader(content);
            if extension.next_of(OBJECT_IDENTIFIER)? != EXTENDED_KEY_USAGE {
                continue;
            }
            let (tag, mut value) = extension.next()?;
            if tag != OCTET_STRING {
                value = extension.next_of(OCTET_STRING)?; // after the flag `critical`
            }
            let mut usages = Reader(Reader(value).next_of(SEQUENCE)?);
            self.is_for_servers = false;
            while let Some((_, usage)) = usages.next() {
                self.is_for_servers |= matches!(usage, SERVER_AUTHENTICATION | ANY_USAGE);
            }
        }
        Some(())
    }
}

/// `YYMMDDHHMMSSZ` until 2049, `YYYYMMDDHHMMSSZ` (RFC 5280, 4.1.2.5).
fn time(tag: u8, content: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(content).ok()?;
    let with_century = match tag {
        UTC_TIME if text.get(..2)? < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let civil = DateTime::strptime("%Y%m%d%H%M%SZ", &with_century).ok()?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};

    use super::CertificateFields;

    fn certificate(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::default();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn subject_and_validity_are_read() {
        let der = certificate(|params| {
            let name = &mut params.distinguished_name;
            name.push(DnType::OrganizationName, "masters");
            name.push(DnType::CommonName, "admin");
            params.not_before = date_time_ymd(1999, 12, 31);
            params.not_after = date_time_ymd(2100, 1, 2);
        });
        let fields = CertificateFields::read(&der).unwrap();
        assert_eq!(fields.organizations, ["masters"]);
        assert!(fields.common_names.contains(&"admin".to_owned()));
        assert_eq!(fields.not_before.to_string(), "1999-12-31T00:00:00Z");
        assert_eq!(fields.not_after.to_string(), "2100-01-02T00:00:00Z");
    }

    #[test]
    fn server_certificate_has_no_usages_or_server_authentication() {
        use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
        for (usages, is_for_servers) in [
            (vec![], true),
            (vec![ServerAuth], true),
            (vec![ClientAuth, Any], true),
            (vec![ClientAuth], false),
        ] {
            let der = certificate(|params| params.extended_key_usages = usages.clone());
            let fields = CertificateFields::read(&der).unwrap();
            assert_eq!(fields.is_for_servers, is_for_servers, "{usages:?}");
        }
    }

    #[test]
    fn truncated_and_malformed_bytes_are_rejected() {
        let der = certificate(|_| {});
        for end in 0..der.len() {
            assert_eq!(CertificateFields::read(&der[..end]), None);
        }
        assert_eq!(CertificateFields::read(&[0x30, 0x88, 1, 1, 1, 1]), None);
    }
}
