//! Access to a real cluster: certificates, tokens and clients of users.

use std::path::PathBuf;

use http::Request;
use kube::Client;
use kubewright_apiserver::User;
use kubewright_http::pki::Subject;
use serde::Deserialize;
use serde_json::json;

use super::kubeconfig::{Credentials, Kubeconfig};
use super::running::RealCluster;
use crate::Error;

impl RealCluster {
    /// A kubeconfig for a user, with a new client certificate.
    pub fn access(&self, user: &User) -> Result<Kubeconfig, Error> {
        let identity = self.authority().issue(&Subject {
            common_name: user.name.clone(),
            organizations: user
                .groups
                .iter()
                .filter(|group| *group != "system:authenticated")
                .cloned()
                .collect(),
            ..Subject::default()
        })?;
        Ok(self.access_by(Credentials::Certificate(identity)))
    }

    /// A kubeconfig for a ServiceAccount, with a token that the API server issues.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a token may have been issued without being used.
    pub async fn access_for_account(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Kubeconfig, Error> {
        #[derive(Deserialize)]
        struct TokenRequest {
            status: Status,
        }
        #[derive(Deserialize)]
        struct Status {
            token: String,
        }
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");

        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": { "expirationSeconds": 3600 },
        });
        let request = Request::post(path)
            .header("Content-Type", "application/json")
            .body(body.to_string().into_bytes())
            .map_err(Error::client(name))?;
        let admin = self.client().await?;
        let issued: TokenRequest =
            admin
                .request(request)
                .await
                .map_err(Error::request(format!(
                    "request a token of ServiceAccount {namespace}/{name}"
                )))?;
        Ok(self.access_by(Credentials::Token(issued.status.token)))
    }

    /// A client with all permissions.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub async fn client(&self) -> Result<Client, Error> {
        self.access(&User::admin())?.client().await
    }

    /// A kubeconfig file with all permissions, which is deleted with the cluster.
    pub fn kubeconfig(&self) -> PathBuf {
        self.file("admin.kubeconfig")
    }

    fn access_by(&self, credentials: Credentials) -> Kubeconfig {
        Kubeconfig {
            server: self.url().to_owned(),
            authority_pem: self.authority().certificate_pem(),
            credentials,
            namespace: "default".to_owned(),
        }
    }
}
