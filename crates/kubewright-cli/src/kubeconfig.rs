use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_http::pki::KeyPairPem;
use serde_json::{Value, json};

use crate::error::Error;

/// Writes a text that only its owner may read, in the place of what was there.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Kubeconfig {
        path: path.to_owned(),
        source,
    };
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// A kubeconfig for one cluster on loopback, one user and one context, as YAML.
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
    // JSON is YAML, and every reader of kubeconfigs takes it.
    format!("{config:#}\n")
}
