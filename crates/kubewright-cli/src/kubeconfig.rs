//! The kubeconfig of an embedded cluster.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_http::pki::KeyPairPem;
use serde_json::{Value, json};

/// Returns a kubeconfig for one cluster on loopback, with one user and one context, as YAML.
pub(crate) fn kubeconfig(
    address: SocketAddr,
    authority_pem: &str,
    identity: &KeyPairPem,
) -> String {
    let user = json!({
        "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
        "client-key-data": STANDARD.encode(&identity.key_pem),
    });
    let config: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "kubewright",
            "cluster": {
                "server": format!("https://{address}"),
                "certificate-authority-data": STANDARD.encode(authority_pem),
            },
        }],
        "users": [{ "name": "kubewright", "user": user }],
        "contexts": [{
            "name": "kubewright",
            "context": { "cluster": "kubewright", "user": "kubewright", "namespace": "default" },
        }],
        "current-context": "kubewright",
    });
    // JSON is a subset of YAML, so every reader of kubeconfigs accepts it.
    format!("{config:#}\n")
}
