use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_http::pki::KeyPairPem;
use serde_json::{Value, json};

use crate::Error;

/// How to reach an API server, and as whom.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// The server's address.
    pub server: String,
    /// The authority that signed the server's certificate.
    pub authority_pem: String,
    /// Who calls.
    pub credentials: Credentials,
    /// The namespace meant when none is named.
    pub namespace: String,
}

/// How a client proves who it is.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credentials {
    /// By a client certificate.
    Certificate(KeyPairPem),
    /// By a bearer token.
    Token(String),
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Certificate(identity) => f.debug_tuple("Certificate").field(identity).finish(),
            Self::Token(_) => f.write_str("Token(..)"),
        }
    }
}

impl Kubeconfig {
    /// The file's text: JSON, which every reader of YAML accepts.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_value())
    }

    /// What kube makes a client of.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub async fn config(&self) -> Result<kube::Config, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Client {
            user: self.server.clone(),
            source,
        };
        let file: kube::config::Kubeconfig =
            serde_json::from_value(self.to_value()).map_err(|error| failed(error.into()))?;
        let options = kube::config::KubeConfigOptions::default();
        let mut config = kube::Config::from_custom_kubeconfig(file, &options)
            .await
            .map_err(|error| failed(error.into()))?;
        // The server is on loopback, whatever the environment says about proxies.
        config.proxy_url = None;
        // A test sees each answer as it comes: a 429 is not asked again for minutes.
        config.default_retry = false;
        Ok(config)
    }

    fn to_value(&self) -> Value {
        let user = match &self.credentials {
            Credentials::Certificate(identity) => json!({
                "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
                "client-key-data": STANDARD.encode(&identity.key_pem),
            }),
            Credentials::Token(token) => json!({ "token": token }),
        };
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "test", "cluster": {
                "server": self.server,
                "certificate-authority-data": STANDARD.encode(&self.authority_pem),
            } }],
            "users": [{ "name": "test", "user": user }],
            "contexts": [{ "name": "test", "context": {
                "cluster": "test", "user": "test", "namespace": self.namespace,
            } }],
            "current-context": "test",
        })
    }
}
