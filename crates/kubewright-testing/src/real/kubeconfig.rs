//! A kubeconfig for one user of a test cluster.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_http::pki::KeyPairPem;
use serde_json::{Value, json};

use crate::Error;

/// The address of an API server, and the credentials of a user.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// The server's address.
    pub server: String,
    /// The authority that signed the server's certificate.
    pub authority_pem: String,
    /// The credentials of the user.
    pub credentials: Credentials,
    /// The default namespace.
    pub namespace: String,
}

/// How a client authenticates.
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
    /// The text of the file, in JSON, which is valid YAML.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_value())
    }

    /// The configuration of kube for a client.
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
        // The server is on loopback: a proxy from the environment would not reach it.
        config.proxy_url = None;
        // Tests check single responses; the default retries a 429 for minutes.
        config.default_retry = false;
        Ok(config)
    }

    /// A client that verifies the certificate of the server.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub(super) async fn client(&self) -> Result<kube::Client, Error> {
        kube::Client::try_from(self.config().await?).map_err(|source| Error::Client {
            user: self.server.clone(),
            source: source.into(),
        })
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
