//! Signing and verifying ServiceAccount tokens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};

use super::user::User;

/// What tokens name as their issuer, and the audience that this server takes them for.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// A clock may be off by this much before a token counts as expired or as from the future.
const LEEWAY_SECONDS: i64 = 60;

/// Looks up the uid of an object of the core group by plural, namespace (empty for Nodes), name.
pub(super) type Directory<'a> = dyn Fn(&str, &str, &str) -> Option<String> + 'a;

/// Signs and checks the tokens of ServiceAccounts: ES256, with a key of the server's own that is
/// made when first needed and never leaves the process.
#[derive(Default)]
pub(crate) struct TokenSigner {
    key: OnceLock<Option<SigningKey>>,
}

struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
}

/// An object whose deletion ends the token.
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

/// The part of the claims that ties a token to objects.
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
    /// A key to be kept (PKCS#8); none when the system has no randomness.
    pub(crate) fn new_key() -> Option<Vec<u8>> {
        new_key()
    }

    /// Signs with a key that was kept, so that tokens of earlier days stay valid.
    pub(crate) fn with_key(document: &[u8]) -> Self {
        Self {
            key: OnceLock::from(SigningKey::read(document)),
        }
    }
}

impl TokenSigner {
    /// The signed token with these claims; none when the key cannot be made.
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

    /// The user that a token stands for, as long as it is ours, in time, meant for this server,
    /// and the objects it is bound to live.
    pub(crate) fn user(
        &self,
        token: &str,
        now: Timestamp,
        directory: &Directory<'_>,
    ) -> Option<User> {
        let found = self.user_for(token, &[ISSUER], now, directory);
        found.map(|(user, _)| user)
    }

    /// The same for others than this server: the user, and those of the audiences that the token
    /// is meant for, which is at least one.
    pub(crate) fn user_for(
        &self,
        token: &str,
        audiences: &[&str],
        now: Timestamp,
        directory: &Directory<'_>,
    ) -> Option<(User, Vec<String>)> {
        let claims = self.verify(token)?;
        let now = now.as_second();
        let in_time = now <= claims.exp + LEEWAY_SECONDS && claims.nbf - LEEWAY_SECONDS <= now;
        let meant: Vec<String> = audiences
            .iter()
            .filter(|audience| claims.aud.iter().any(|one| one == *audience))
            .map(|audience| (*audience).to_owned())
            .collect();
        let is_ours = claims.iss == ISSUER && !meant.is_empty();
        if !in_time || !is_ours || !claims.kubernetes.is_alive(directory) {
            return None;
        }
        Some((claims.user(), meant))
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
        let mut note = |key: &str, value: String| {
            extra.insert(format!("authentication.kubernetes.io/{key}"), vec![value]);
        };
        note("credential-id", format!("JTI={}", self.jti));
        if let Some(pod) = bound.pod {
            note("pod-name", pod.name);
            note("pod-uid", pod.uid);
        }
        if let Some(node) = bound.node {
            note("node-name", node.name);
            note("node-uid", node.uid);
        }
        user.extra = extra;
        user
    }
}

impl KubernetesClaims {
    /// Whether every object the token is bound to is there under the same uid. The Node of a
    /// token that is bound to a Pod is only told, not checked.
    fn is_alive(&self, directory: &Directory<'_>) -> bool {
        let is = |plural: &str, namespace: &str, reference: &BoundReference| {
            directory(plural, namespace, &reference.name).is_some_and(|uid| uid == reference.uid)
        };
        let node = self.node.as_ref().filter(|_| self.pod.is_none());
        is("serviceaccounts", &self.namespace, &self.serviceaccount)
            && self.pod.iter().all(|pod| is("pods", &self.namespace, pod))
            && self
                .secret
                .iter()
                .all(|secret| is("secrets", &self.namespace, secret))
            && node.iter().all(|node| is("nodes", "", node))
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

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

    /// The account `robot` and the pod `p` live in `web`.
    fn everything(plural: &str, namespace: &str, name: &str) -> Option<String> {
        match (plural, namespace, name) {
            ("serviceaccounts", "web", "robot") => Some("u-1".to_owned()),
            ("pods", "web", "p") => Some("p-1".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_token_stands_for_its_service_account_until_it_expires() {
        let signer = TokenSigner::default();
        let token = signer.sign(&claims()).unwrap();
        let user = signer.user(&token, at(599), &everything).unwrap();
        assert_eq!(user.name, "system:serviceaccount:web:robot");
        assert_eq!(user.uid, "u-1");
        assert_eq!(
            user.extra["authentication.kubernetes.io/credential-id"],
            ["JTI=j-1"]
        );
        assert!(signer.user(&token, at(661), &everything).is_none());
        assert!(signer.user(&token, at(-61), &everything).is_none());
    }

    #[test]
    fn a_token_dies_with_the_objects_it_is_bound_to() {
        let signer = TokenSigner::default();
        let nothing = |_: &str, _: &str, _: &str| None;
        let renewed = |_: &str, _: &str, _: &str| Some("u-2".to_owned());
        let token = signer.sign(&claims()).unwrap();
        assert!(signer.user(&token, at(1), &nothing).is_none());
        assert!(signer.user(&token, at(1), &renewed).is_none());

        let mut bound = claims();
        bound.kubernetes.pod = Some(reference("p", "p-1"));
        let token = signer.sign(&bound).unwrap();
        let user = signer.user(&token, at(1), &everything).unwrap();
        assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p"]);
        bound.kubernetes.pod = Some(reference("gone", "p-1"));
        let token = signer.sign(&bound).unwrap();
        assert!(signer.user(&token, at(1), &everything).is_none());
    }

    #[test]
    fn foreign_changed_and_malformed_tokens_are_nobody() {
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
            assert!(signer.user(&bad, at(1), &everything).is_none(), "{bad}");
        }
    }
}
