//! The subject and usage of a certificate, and its encoding with several organizations.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::ExtendedKeyUsagePurpose;

use crate::der::{OBJECT_IDENTIFIER, Reader, SEQUENCE};

/// The identity in a certificate, and its usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The user name, for a client.
    pub common_name: String,
    /// The groups, for a client.
    pub organizations: Vec<String>,
    /// What the certificate may be used for.
    pub usage: Usage,
    /// The host names and IP addresses, for a server.
    pub names: Vec<String>,
}

/// What a certificate may be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// Server authentication.
    Server,
    /// Client authentication.
    #[default]
    Client,
    /// Server and client authentication.
    Both,
}

impl Usage {
    pub(super) fn purposes(self) -> Vec<ExtendedKeyUsagePurpose> {
        match self {
            Self::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
            Self::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
            Self::Both => vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ],
        }
    }
}

/// The part of a certificate that is signed, and the signature algorithm.
pub(super) struct ToBeSigned {
    pub(super) body: Vec<u8>,
    algorithm: Vec<u8>,
}

impl ToBeSigned {
    pub(super) fn certificate_pem(&self, signature: &[u8]) -> String {
        let mut bits = vec![0];
        bits.extend(signature);
        let content = [
            self.body.clone(),
            self.algorithm.clone(),
            element(BIT_STRING, &bits),
        ]
        .concat();
        let text = STANDARD.encode(element(SEQUENCE, &content));
        let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
        for (position, character) in text.chars().enumerate() {
            if position > 0 && position % 64 == 0 {
                pem.push('\n');
            }
            pem.push(character);
        }
        pem.push_str("\n-----END CERTIFICATE-----\n");
        pem
    }
}

/// Sets the subject's name in a certificate, which needs a new signature afterwards.
///
/// rcgen allows one attribute of each type in a name, while each group of a client is an
/// organization (k8s.io/apiserver/pkg/authentication/request/x509).
pub(super) fn name_certificate(certificate: &[u8], subject: &Subject) -> Option<ToBeSigned> {
    // RFC 5280, 4.1: version, serial number, signature, issuer, validity, subject, key, ...
    const SUBJECT: usize = 5;
    let outer = Reader(certificate).next_of(SEQUENCE)?;
    let mut body = Reader(Reader(outer).next_of(SEQUENCE)?);
    let mut parts = Vec::new();
    while !body.0.is_empty() {
        let rest = body.0;
        body.next()?;
        parts.push(rest.get(..rest.len() - body.0.len())?.to_vec());
    }
    let algorithm = parts.get(2)?.clone();
    *parts.get_mut(SUBJECT)? = name(subject);
    Some(ToBeSigned {
        body: element(SEQUENCE, &parts.concat()),
        algorithm,
    })
}

const BIT_STRING: u8 = 0x03;
const UTF8_STRING: u8 = 0x0c;
const SET: u8 = 0x31;
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];

fn name(subject: &Subject) -> Vec<u8> {
    let attribute = |kind: [u8; 3], text: &str| {
        let pair = [
            element(OBJECT_IDENTIFIER, &kind),
            element(UTF8_STRING, text.as_bytes()),
        ]
        .concat();
        element(SET, &element(SEQUENCE, &pair))
    };
    let mut attributes: Vec<u8> = subject
        .organizations
        .iter()
        .flat_map(|organization| attribute(ORGANIZATION, organization))
        .collect();
    attributes.extend(attribute(COMMON_NAME, &subject.common_name));
    element(SEQUENCE, &attributes)
}

/// One DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let digits = length
        .iter()
        .position(|digit| *digit != 0)
        .map_or(&[][..], |first| length.get(first..).unwrap_or_default());
    let mut bytes = vec![tag];
    match digits {
        [] => bytes.push(0),
        [short] if *short < 0x80 => bytes.push(*short),
        // At most eight digits, so the count fits beside the marker bit.
        long => {
            bytes.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            bytes.extend(long);
        }
    }
    bytes.extend(content);
    bytes
}

#[cfg(test)]
mod tests {
    use super::element;
    use crate::der::{Reader, SEQUENCE};

    #[test]
    fn elements_of_every_length_form_can_be_read_back() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            let mut bytes = element(SEQUENCE, &content);
            bytes.push(9);
            let mut reader = Reader(&bytes);
            assert_eq!(reader.next(), Some((SEQUENCE, &content[..])));
            assert_eq!(reader.0, [9]);
        }
    }

    #[test]
    fn truncated_element_is_not_read() {
        let bytes = element(SEQUENCE, &[1; 300]);
        for end in 0..bytes.len() {
            assert_eq!(Reader(&bytes[..end]).next(), None, "{end}");
        }
    }
}
