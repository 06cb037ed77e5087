use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_apiserver::pki::Identity;
use serde_json::{Value, json};

/// How a kubeconfig's user proves who it is.
#[derive(Debug)]
pub(crate) enum Credentials<'a> {
    /// A client certificate.
    Certificate(&'a Identity),
    /// A bearer token.
    Token(&'a str),
}

/// A kubeconfig for one cluster on loopback, one user and one context, as YAML.
pub(crate) fn kubeconfig(
    address: SocketAddr,
    authority_pem: &str,
    credentials: &Credentials<'_>,
) -> String {
    let user = match credentials {
        Credentials::Certificate(identity) => json!({
            "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
            "client-key-data": STANDARD.encode(&identity.key_pem),
        }),
        Credentials::Token(token) => json!({ "token": token }),
    };
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
    // JSON is YAML, and every reader of kubeconfigs takes it.
    format!("{config:#}\n")
}
