//! The Secret that holds the state of a rotation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_webhook::Rotation;
use kubewright_webhook::certificate::Progress;
use kubewright_webhook::pki::KeyPairPem;
use serde_json::{Value, json};

/// The annotation with the progress of a rotation.
const PROGRESS: &str = "webhook.kubewright.dev/rotation";

/// Returns the Secret of a rotation.
pub(super) fn to_secret(rotation: &Rotation, namespace: &str, name: &str) -> Value {
    let encode = |text: &str| STANDARD.encode(text);
    let mut data = json!({
        "ca.crt": encode(&rotation.trusted_pem()),
        "tls.crt": encode(&rotation.serving.certificate_pem),
        "tls.key": encode(&rotation.serving.key_pem),
    });
    if let Some(upcoming) = &rotation.upcoming {
        data["next.crt"] = json!(encode(&upcoming.certificate_pem));
        data["next.key"] = json!(encode(&upcoming.key_pem));
    }
    let progress = json!(rotation.progress).to_string();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "annotations": {PROGRESS: progress}},
        "type": "kubernetes.io/tls",
        "data": data,
    })
}

/// Returns the rotation in a Secret, or `None` if the Secret is not from an operator or is invalid.
pub(super) fn from_secret(secret: &Value) -> Option<Rotation> {
    let text = |name: &str| {
        let bytes = STANDARD.decode(secret["data"][name].as_str()?).ok()?;
        String::from_utf8(bytes).ok()
    };
    let pair = |certificate: &str, key: &str| {
        Some(KeyPairPem {
            certificate_pem: text(certificate)?,
            key_pem: text(key)?,
        })
    };
    let annotation = secret["metadata"]["annotations"][PROGRESS].as_str()?;
    let progress: Progress = serde_json::from_str(annotation).ok()?;
    let authorities = Rotation::split_authorities(&text("ca.crt")?);
    Some(Rotation {
        authorities,
        serving: pair("tls.crt", "tls.key")?,
        upcoming: pair("next.crt", "next.key"),
        progress,
    })
    .filter(|rotation| !rotation.authorities.is_empty())
}

#[cfg(test)]
mod tests {
    use kubewright_webhook::Rotation;
    use serde_json::json;

    use super::{from_secret, to_secret};

    #[test]
    fn rotation_is_read_from_its_secret() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let names = ["web.tools.svc".to_owned()];
        let rotation = Rotation::first(&names, now).unwrap();
        let mut secret = to_secret(&rotation, "tools", "web");
        assert_eq!(from_secret(&secret), Some(rotation));
        assert_eq!(secret["type"], "kubernetes.io/tls");
        secret["data"]["tls.key"] = json!("?");
        assert_eq!(from_secret(&secret), None);
    }
}
