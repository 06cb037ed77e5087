//! The user of a client certificate.

use std::fmt::Write;

use kubewright_http::CertificateFields;

use super::user::User;

/// The user that a verified client certificate names: the common name, and as groups the
/// organizations of its subject.
///
/// None when there is no common name, as `CommonNameUserConversion` of k8s.io/apiserver decides.
/// The chain has been verified before; here the subject is only read.
pub(crate) fn user_of_certificate(der: &[u8]) -> Option<User> {
    let fields = CertificateFields::read(der)?;
    let mut names = fields.common_names.into_iter();
    let name = names.next().filter(|name| !name.is_empty())?;
    let mut user = User::new(name, fields.organizations);
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
    fn common_name_is_the_user_and_organizations_are_groups() {
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
    fn certificate_without_a_common_name_has_no_user() {
        let der = certificate(&[(DnType::OrganizationName, "system:masters")]);
        assert_eq!(user_of_certificate(&der), None);
    }

    #[test]
    fn truncated_certificate_and_other_bytes_have_no_user() {
        let der = certificate(&[(DnType::CommonName, "admin")]);
        for end in 0..der.len() / 2 {
            assert_eq!(user_of_certificate(&der[..end]), None);
        }
        assert_eq!(user_of_certificate(&[0x30, 0x88, 1, 1, 1, 1]), None);
    }
}
