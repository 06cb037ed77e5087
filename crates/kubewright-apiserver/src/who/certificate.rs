use std::fmt::Write;

use super::User;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The explicitly tagged version in front of a certificate's serial number.
const VERSION: u8 = 0xa0;

/// The user that a verified client certificate names: the common name, and as groups the
/// organizations of its subject.
///
/// None when there is no common name, as `CommonNameUserConversion` of k8s.io/apiserver decides.
/// The chain has been verified before; here the subject is only read.
pub(crate) fn user_of_certificate(der: &[u8]) -> Option<User> {
    let (names, organizations) = subject(der)?;
    let name = names.into_iter().next().filter(|name| !name.is_empty())?;
    let mut user = User::new(name, organizations);
    let mut id = "X509SHA256=".to_owned();
    for byte in ring::digest::digest(&ring::digest::SHA256, der).as_ref() {
        write!(id, "{byte:02x}").ok()?;
    }
    user.extra.insert(
        "authentication.kubernetes.io/credential-id".to_owned(),
        vec![id],
    );
    Some(user)
}

/// The common names and organizations of a certificate's subject.
fn subject(der: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let certificate = Reader(der).next_of(SEQUENCE)?;
    let mut fields = Reader(Reader(certificate).next_of(SEQUENCE)?);
    let (tag, _) = fields.next()?;
    if tag == VERSION {
        fields.next()?; // the serial number
    }
    fields.next()?; // the signature's algorithm
    fields.next()?; // the issuer
    fields.next()?; // the validity
    let mut subject = Reader(fields.next_of(SEQUENCE)?);
    let (mut names, mut organizations) = (Vec::new(), Vec::new());
    while let Some((_, set)) = subject.next() {
        let mut attributes = Reader(set);
        while let Some(attribute) = attributes.next_of(SEQUENCE) {
            let mut attribute = Reader(attribute);
            let kind = attribute.next_of(OBJECT_IDENTIFIER)?;
            let (_, value) = attribute.next()?;
            let text = String::from_utf8(value.to_vec()).ok()?;
            match kind {
                COMMON_NAME => names.push(text),
                ORGANIZATION => organizations.push(text),
                _ => {}
            }
        }
    }
    Some((names, organizations))
}

/// Walks the elements of one level of DER.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The tag and content of the next element.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            if length.len() > 4 {
                return None;
            }
            let read = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
            (length.iter().fold(0, read), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The content of the next element, when it has this tag.
    fn next_of(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let (tag, content) = self.next()?;
        (tag == wanted).then_some(content)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    use super::user_of_certificate;

    fn certificate(subject: &[(DnType, &str)]) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, value) in subject {
            params.distinguished_name.push(kind.clone(), *value);
        }
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_common_name_is_the_user_and_organizations_are_groups() {
        let der = certificate(&[
            (DnType::OrganizationName, "system:masters"),
            (DnType::CountryName, "SE"),
            (DnType::CommonName, "admin"),
        ]);
        let user = user_of_certificate(&der).unwrap();
        assert_eq!(user.name, "admin");
        assert_eq!(user.groups, ["system:masters", "system:authenticated"]);
        let id = &user.extra["authentication.kubernetes.io/credential-id"][0];
        assert_eq!(id.len(), "X509SHA256=".len() + 64);
    }

    #[test]
    fn a_certificate_without_a_common_name_is_nobody() {
        let der = certificate(&[(DnType::OrganizationName, "system:masters")]);
        assert_eq!(user_of_certificate(&der), None);
    }

    #[test]
    fn cut_and_foreign_bytes_are_nobody() {
        let der = certificate(&[(DnType::CommonName, "admin")]);
        for end in 0..der.len() / 2 {
            assert_eq!(user_of_certificate(&der[..end]), None);
        }
        assert_eq!(user_of_certificate(&[0x30, 0x88, 1, 1, 1, 1]), None);
    }
}
