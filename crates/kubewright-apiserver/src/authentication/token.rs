//! Signing and verifying ServiceAccount tokens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::core::{NODE, POD, SECRET, SERVICE_ACCOUNT};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};

use super::user::User;

/// The issuer of tokens, and the audience of this server.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// The clock skew at which a token still counts as valid.
const LEEWAY_SECONDS: i64 = 60;

/// Looks up the uid of an object by kind, namespace (empty for Nodes) and name.
pub(super) type Directory<'a> = dyn Fn(&BuiltinKind, &str, &str) -> Option<String> + 'a;

/// Signs and verifies the tokens of ServiceAccounts (ES256). The key is generated when first
/// needed, unless a stored one is given.
#[derive(Default)]
pub(crate) struct TokenSigner {
    key: OnceLock<Option<SigningKey>>,
}

struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
}

/// An object whose deletion invalidates the token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BoundReference {
    /// The object's name.
    pub(crate) name: String,
    /// The object's uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
}

/// The claims of a token, as pkg/serviceaccount/claims.go writes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) aud: Vec<String>,
    pub(crate) exp: i64,
    pub(crate) iat: i64,
    pub(crate) iss: String,
    pub(crate) jti: String,
    #[serde(rename = "kubernetes.io")]
    pub(crate) kubernetes: KubernetesClaims,
    pub(crate) nbf: i64,
    pub(crate) sub: String,
}

/// The claims that bind a token to objects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KubernetesClaims {
    pub(crate) namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<BoundReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<BoundReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<BoundReference>,
    pub(crate) serviceaccount: BoundReference,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

#[cfg(feature = "disk")]
impl TokenSigner {
    /// A new key to store (PKCS#8); none when the system has no randomness.
    pub(crate) fn new_key() -> Option<Vec<u8>> {
        new_key()
    }

    /// Signs with a stored key, so that tokens of earlier processes stay valid.
    pub(crate) fn with_key(document: &[u8]) -> Self {
        Self {
            key: OnceLock::from(SigningKey::read(document)),
        }
    }
}

impl TokenSigner {
    /// The signed token with these claims; none when no key can be generated.
    pub(crate) fn sign(&self, claims: &Claims) -> Option<String> {
        let key = self.key()?;
        let header = Header {
            alg: "ES256".to_owned(),
            kid: key.id.clone(),
        };
        let header = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&header).ok()?);
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(claims).ok()?);
        let mut token = format!("{header}.{payload}");
        let signature = key.pair.sign(&SystemRandom::new(), token.as_bytes()).ok()?;
        token.push('.');
        token.push_str(&URL_SAFE_NO_PAD.encode(signature.as_ref()));
        Some(token)
    }

    /// The user that a token authenticates to this server; none when it is invalid or expired, or
    /// when an object that it is bound to is gone.
    pub(crate) fn user(
        &self,
        token: &str,
        now: Timestamp,
        directory: &Directory<'_>,
    ) -> Option<User> {
        let authenticated = self.user_for(token, &[ISSUER], now, directory);
        authenticated.map(|(user, _)| user)
    }

    /// The user that a token authenticates to the given audiences, and those of them that the token
    /// is for; none when it is for none of them.
    pub(crate) fn user_for(
        &self,
        token: &str,
        audiences: &[&str],
        now: Timestamp,
        directory: &Directory<'_>,
    ) -> Option<(User, Vec<String>)> {
        let claims = self.verify(token)?;
        let seconds = now.as_second();
        let is_current =
            seconds <= claims.exp + LEEWAY_SECONDS && claims.nbf - LEEWAY_SECONDS <= seconds;
        let matching: Vec<String> = audiences
            .iter()
            .filter(|audience| claims.aud.iter().any(|claimed| claimed == *audience))
            .map(|audience| (*audience).to_owned())
            .collect();
        let is_accepted = claims.iss == ISSUER && !matching.is_empty();
        if !is_current || !is_accepted || !claims.kubernetes.objects_exist(directory) {
            return None;
        }
        Some((claims.user(), matching))
    }

    fn verify(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let key = self.key()?;
        if header.alg != "ES256" || header.kid != key.id {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.pair.public_key())
            .verify(signed.as_bytes(), &signature)
            .ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }

    fn key(&self) -> Option<&SigningKey> {
        self.key.get_or_init(SigningKey::generate).as_ref()
    }
}

impl fmt::Debug for TokenSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSigner").finish_non_exhaustive()
    }
}

impl SigningKey {
    fn generate() -> Option<Self> {
        Self::read(&new_key()?)
    }

    fn read(document: &[u8]) -> Option<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document, &SystemRandom::new()).ok()?;
        let digest = ring::digest::digest(&ring::digest::SHA256, pair.public_key().as_ref());
        let id = URL_SAFE_NO_PAD.encode(digest);
        Some(Self { pair, id })
    }
}

/// A new key (PKCS#8); none when the system has no randomness.
fn new_key() -> Option<Vec<u8>> {
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).ok()?;
    Some(document.as_ref().to_vec())
}

impl Claims {
    fn user(self) -> User {
        let bound = self.kubernetes;
        let mut user = User::service_account(&bound.namespace, &bound.serviceaccount.name);
        user.uid = bound.serviceaccount.uid;
        let mut extra = BTreeMap::new();
        let mut add = |key: &str, value: String| {
            extra.insert(format!("authentication.kubernetes.io/{key}"), vec![value]);
        };
        add("credential-id", format!("JTI={}", self.jti));
        if let Some(pod) = bound.pod {
            add("pod-name", pod.name);
            add("pod-uid", pod.uid);
        }
        if let Some(node) = bound.node {
            add("node-name", node.name);
            add("node-uid", node.uid);
        }
        user.extra = extra;
        user
    }
}

impl KubernetesClaims {
    /// Whether every object that the token is bound to exists with the same uid. The Node of a
    /// token that is bound to a Pod is informational and not checked.
    fn objects_exist(&self, directory: &Directory<'_>) -> bool {
        let exists = |kind: &BuiltinKind, namespace: &str, reference: &BoundReference| {
            directory(kind, namespace, &reference.name).is_some_and(|uid| uid == reference.uid)
        };
        let namespace = self.namespace.as_str();
        let node = self.node.as_ref().filter(|_| self.pod.is_none());
        exists(&SERVICE_ACCOUNT, namespace, &self.serviceaccount)
            && self.pod.iter().all(|pod| exists(&POD, namespace, pod))
            && self
                .secret
                .iter()
                .all(|secret| exists(&SECRET, namespace, secret))
            && node.iter().all(|node| exists(&NODE, "", node))
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};
    use kubewright_kinds::BuiltinKind;

    use super::{BoundReference, Claims, ISSUER, KubernetesClaims, TokenSigner};

    const START: i64 = 1_800_000_000;

    fn claims() -> Claims {
        Claims {
            aud: vec![ISSUER.to_owned()],
            exp: START + 600,
            iat: START,
            iss: ISSUER.to_owned(),
            jti: "j-1".to_owned(),
            kubernetes: KubernetesClaims {
                namespace: "web".to_owned(),
                serviceaccount: reference("robot", "u-1"),
                ..KubernetesClaims::default()
            },
            nbf: START,
            sub: "system:serviceaccount:web:robot".to_owned(),
        }
    }

    fn reference(name: &str, uid: &str) -> BoundReference {
        BoundReference {
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(START + seconds)
    }

    /// The namespace `web` has the ServiceAccount `robot` and the Pod `p`.
    fn uids(kind: &BuiltinKind, namespace: &str, name: &str) -> Option<String> {
        match (kind.plural, namespace, name) {
            ("serviceaccounts", "web", "robot") => Some("u-1".to_owned()),
            ("pods", "web", "p") => Some("p-1".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn token_authenticates_its_service_account_until_it_expires() {
        let signer = TokenSigner::default();
        let token = signer.sign(&claims()).unwrap();
        let user = signer.user(&token, at(599), &uids).unwrap();
        assert_eq!(user.name, "system:serviceaccount:web:robot");
        assert_eq!(user.uid, "u-1");
        assert_eq!(
            user.extra["authentication.kubernetes.io/credential-id"],
            ["JTI=j-1"]
        );
        assert!(signer.user(&token, at(661), &uids).is_none());
        assert!(signer.user(&token, at(-61), &uids).is_none());
    }

    #[test]
    fn token_is_invalid_when_an_object_it_is_bound_to_is_gone_or_recreated() {
        let signer = TokenSigner::default();
        let gone = |_: &BuiltinKind, _: &str, _: &str| None;
        let recreated = |_: &BuiltinKind, _: &str, _: &str| Some("u-2".to_owned());
        let token = signer.sign(&claims()).unwrap();
        assert!(signer.user(&token, at(1), &gone).is_none());
        assert!(signer.user(&token, at(1), &recreated).is_none());

        let mut bound = claims();
        bound.kubernetes.pod = Some(reference("p", "p-1"));
        let token = signer.sign(&bound).unwrap();
        let user = signer.user(&token, at(1), &uids).unwrap();
        assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p"]);
        bound.kubernetes.pod = Some(reference("gone", "p-1"));
        let token = signer.sign(&bound).unwrap();
        assert!(signer.user(&token, at(1), &uids).is_none());
    }

    #[test]
    fn foreign_changed_and_malformed_tokens_have_no_user() {
        let signer = TokenSigner::default();
        let token = signer.sign(&claims()).unwrap();
        let foreign = TokenSigner::default().sign(&claims()).unwrap();
        let other_audience = Claims {
            aud: vec!["vault".to_owned()],
            ..claims()
        };
        let (signed, _) = token.rsplit_once('.').unwrap();
        let (_, stolen) = foreign.rsplit_once('.').unwrap();
        for bad in [
            foreign.clone(),
            format!("{signed}.{stolen}"),
            format!("{signed}."),
            signer.sign(&other_audience).unwrap(),
            String::new(),
            "a.b.c".to_owned(),
            "..".to_owned(),
        ] {
            assert!(signer.user(&bad, at(1), &uids).is_none(), "{bad}");
        }
    }
}
