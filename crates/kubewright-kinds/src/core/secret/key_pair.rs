//! Whether the certificate and the key of a TLS Secret belong together.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::SignatureAlgorithm;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::server::ParsedCertificate;
use rustls::sign::SigningKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;

use crate::warning_list::Warnings;

const SEQUENCE: u8 = 0x30;
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const ELLIPTIC_CURVE: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// Warns about a TLS Secret whose certificate and key do not belong together.
pub(super) fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    if object["type"] != "kubernetes.io/tls" {
        return;
    }
    let data = |key: &str| {
        let encoded = object["data"][key].as_str().unwrap_or_default();
        STANDARD.decode(encoded).unwrap_or_default()
    };
    if let Err(why) = check_pair(&data("tls.crt"), &data("tls.key")) {
        warnings.add(&why);
    }
}

/// Fails with the error of Go's `tls.X509KeyPair`. Certificates and keys that Go can parse and this
/// function cannot pass.
fn check_pair(certificate: &[u8], key: &[u8]) -> Result<(), String> {
    let certificate_der = certificate_block(certificate)?;
    let key_der = key_block(key)?;
    let parsed = (public_key(&certificate_der)?, private_key(&key_der)?);
    let (Some(public), Some(private)) = parsed else {
        return Ok(());
    };
    if !is_key_of(&public, private.algorithm()) {
        return Err("tls: private key type does not match public key type".to_owned());
    }
    match private.public_key() {
        Some(derived) if *derived != *public => {
            Err("tls: private key does not match public key".to_owned())
        }
        _ => Ok(()),
    }
}

fn certificate_block(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut skipped = Vec::new();
    for block in blocks(text) {
        if block.kind == "CERTIFICATE" {
            return Ok(block.content);
        }
        skipped.push(block.kind);
    }
    Err(match skipped.as_slice() {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [only] if only.ends_with("PRIVATE KEY") => {
            "tls: failed to find certificate PEM data in certificate input, but did find a \
             private key; PEM inputs may have been switched"
                .to_owned()
        }
        kinds => format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping \
             PEM blocks of the following types: [{}]",
            kinds.join(" ")
        ),
    })
}

fn key_block(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut skipped = Vec::new();
    for block in blocks(text) {
        if block.kind == "PRIVATE KEY" || block.kind.ends_with(" PRIVATE KEY") {
            return Ok(block.content);
        }
        skipped.push(block.kind);
    }
    Err(match skipped.as_slice() {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [only] if only == "CERTIFICATE" => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        kinds => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after \
             skipping PEM blocks of the following types: [{}]",
            kinds.join(" ")
        ),
    })
}

/// The public key of a certificate; `None` when it cannot be parsed here.
fn public_key(der: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let content = sequence(der).ok_or("x509: malformed certificate")?;
    sequence(content).ok_or("x509: malformed tbs certificate")?;
    let certificate = CertificateDer::from(der);
    let parsed = ParsedCertificate::try_from(&certificate).ok();
    Ok(parsed.map(|parsed| parsed.subject_public_key_info().to_vec()))
}

/// The private key; `None` when it cannot be parsed here.
fn private_key(der: &[u8]) -> Result<Option<Arc<dyn SigningKey>>, String> {
    sequence(der).ok_or("tls: failed to parse private key")?;
    let key = PrivateKeyDer::try_from(der).ok();
    Ok(key.and_then(|key| any_supported_type(&key).ok()))
}

/// Whether a public key begins with the identifier of an algorithm.
fn is_key_of(key: &[u8], algorithm: SignatureAlgorithm) -> bool {
    let identifier = match algorithm {
        SignatureAlgorithm::RSA => RSA,
        SignatureAlgorithm::ECDSA => ELLIPTIC_CURVE,
        SignatureAlgorithm::ED25519 => ED25519,
        _ => return true,
    };
    let found = sequence(key).and_then(sequence);
    found.is_some_and(|found| found.get(2..).is_some_and(|id| id.starts_with(identifier)))
}

/// The content of the first element, which must be a sequence.
fn sequence(der: &[u8]) -> Option<&[u8]> {
    let (&[tag, first], rest) = der.split_first_chunk::<2>()?;
    if tag != SEQUENCE {
        return None;
    }
    if first < 0x80 {
        return rest.get(..usize::from(first));
    }
    let (length_bytes, content) = rest.split_at_checked(usize::from(first & 0x7f))?;
    if length_bytes.is_empty() || length_bytes.len() > 4 {
        return None;
    }
    let length = length_bytes
        .iter()
        .fold(0_usize, |sum, byte| (sum << 8) | usize::from(*byte));
    content.get(..length)
}

/// A PEM block.
#[derive(Clone, Debug)]
struct Block {
    kind: String,
    content: Vec<u8>,
}

fn blocks(text: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut begun: Option<(String, String)> = None;
    for line in String::from_utf8_lossy(text).lines() {
        let line = line.trim_end_matches([' ', '\t']);
        let edge = |word: &str| line.strip_prefix(word)?.strip_suffix("-----");
        if let Some(kind) = edge("-----BEGIN ") {
            begun = Some((kind.to_owned(), String::new()));
        } else if let Some(kind) = edge("-----END ") {
            let own = begun.take().filter(|(begun, _)| begun == kind);
            let content = own.and_then(|(_, encoded)| STANDARD.decode(encoded).ok());
            blocks.extend(content.map(|content| Block {
                kind: kind.to_owned(),
                content,
            }));
        } else if let Some((_, encoded)) = &mut begun
            && !line.contains(':')
        {
            encoded.extend(line.chars().filter(|c| !matches!(c, ' ' | '\t')));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{KeyPair, PKCS_ED25519};
    use serde_json::json;

    use crate::core::SECRET;
    use kubewright_http::pki::Authority;

    fn warnings_of(certificate: &str, key: &str) -> Vec<String> {
        let secret = json!({"type": "kubernetes.io/tls", "data": {
            "tls.crt": STANDARD.encode(certificate), "tls.key": STANDARD.encode(key),
        }});
        SECRET.warnings(&secret, None)
    }

    fn authority() -> Authority {
        let start = "2026-03-01T12:00:00Z".parse().unwrap();
        Authority::valid_from("a", start, 30).unwrap()
    }

    #[test]
    fn key_of_another_certificate_is_warned_about() {
        let (own, other) = (authority(), authority());
        let certificate = own.certificate_pem();
        assert!(warnings_of(&certificate, &own.key_pem()).is_empty());
        assert_eq!(
            warnings_of(&certificate, &other.key_pem()),
            ["tls: private key does not match public key"]
        );
        let edwards = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        assert_eq!(
            warnings_of(&certificate, &edwards.serialize_pem()),
            ["tls: private key type does not match public key type"]
        );
    }

    #[test]
    fn mismatched_or_malformed_input_is_warned_about() {
        let own = authority();
        let (certificate, key) = (own.certificate_pem(), own.key_pem());
        let block = |kind: &str, content: &str| {
            let content = STANDARD.encode(content);
            format!("-----BEGIN {kind}-----\n{content}\n-----END {kind}-----\n")
        };
        let two = block("A", "") + &block("B", "");
        let (no_certificate, no_key) = (block("CERTIFICATE", "none"), block("PRIVATE KEY", "none"));
        let warning = |certificate: &str, key: &str| warnings_of(certificate, key).concat();
        let cases = [
            (
                warning("none", "none"),
                "tls: failed to find any PEM data in certificate input",
            ),
            (
                warning(&key, &certificate),
                "tls: failed to find certificate PEM data in certificate input, but did find a \
                 private key; PEM inputs may have been switched",
            ),
            (
                warning(&two, &key),
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after \
                 skipping PEM blocks of the following types: [A B]",
            ),
            (
                warning(&certificate, "none"),
                "tls: failed to find any PEM data in key input",
            ),
            (
                warning(&certificate, &certificate),
                "tls: found a certificate rather than a key in the PEM for the private key",
            ),
            (
                warning(&certificate, &two),
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input \
                 after skipping PEM blocks of the following types: [A B]",
            ),
            (
                warning(&no_certificate, &key),
                "x509: malformed certificate",
            ),
            (
                warning(&certificate, &no_key),
                "tls: failed to parse private key",
            ),
        ];
        for (warning, expected) in cases {
            assert_eq!(warning, expected);
        }
    }
}
