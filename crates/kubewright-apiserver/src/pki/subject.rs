use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::ExtendedKeyUsagePurpose;

/// Whom a certificate names, and what for.
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
    /// Serving.
    Server,
    /// Calling.
    #[default]
    Client,
    /// Serving and calling.
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

/// The signed part of a certificate, and how its signature will be made.
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

/// Puts the subject's name into a certificate, which then wants a new signature.
///
/// rcgen keeps one attribute of each type in a name, while a client's groups are as many
/// organizations (k8s.io/apiserver/pkg/authentication/request/x509).
pub(super) fn name_certificate(certificate: &[u8], subject: &Subject) -> Option<ToBeSigned> {
    // RFC 5280, 4.1: version, serial number, signature, issuer, validity, subject, key, ...
    const SUBJECT: usize = 5;
    let (_, outer, _) = split(certificate)?;
    let (_, body, _) = split(outer)?;
    let mut parts = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (whole, _, after) = split(rest)?;
        parts.push(whole.to_vec());
        rest = after;
    }
    let algorithm = parts.get(2)?.clone();
    *parts.get_mut(SUBJECT)? = name(subject);
    Some(ToBeSigned {
        body: element(SEQUENCE, &parts.concat()),
        algorithm,
    })
}

const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const SEQUENCE: u8 = 0x30;
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

/// Splits DER into its first element, that element's content, and what follows.
fn split(der: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let first = *der.get(1)?;
    let (header, length) = if first < 0x80 {
        (2, usize::from(first))
    } else {
        let count = usize::from(first & 0x7f);
        let digits = der.get(2..2 + count)?;
        let length = digits.iter().try_fold(0_usize, |sum, digit| {
            sum.checked_mul(256)?.checked_add(usize::from(*digit))
        })?;
        (2 + count, length)
    };
    let end = header.checked_add(length)?;
    Some((der.get(..end)?, der.get(header..end)?, der.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::{SEQUENCE, element, split};

    #[test]
    fn elements_of_every_length_form_come_back_whole() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            let mut bytes = element(SEQUENCE, &content);
            bytes.push(9);
            let (_, inner, rest) = split(&bytes).unwrap();
            assert_eq!((inner, rest), (&content[..], &[9][..]));
        }
    }

    #[test]
    fn cut_input_is_refused() {
        let bytes = element(SEQUENCE, &[1; 300]);
        for end in 0..bytes.len() {
            assert!(split(&bytes[..end]).is_none(), "{end}");
        }
    }
}
