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
    /// How to reach the cluster as the given user, by a new client certificate.
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

    /// How to reach the cluster as a ServiceAccount, by a token that the API server issues.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a token may have been issued that nobody has.
    pub async fn access_for_account(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Kubeconfig, Error> {
        #[derive(Deserialize)]
        struct Answer {
            status: Status,
        }
        #[derive(Deserialize)]
        struct Status {
            token: String,
        }
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let tried = || format!("ask for a token of ServiceAccount {namespace}/{name}");
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": { "expirationSeconds": 3600 },
        });
        let request = Request::post(path)
            .header("Content-Type", "application/json")
            .body(body.to_string().into_bytes())
            .map_err(|source| Error::Client {
                user: name.to_owned(),
                source: source.into(),
            })?;
        let admin = self.client().await?;
        let answer: Answer = admin
            .request(request)
            .await
            .map_err(|source| Error::Request {
                tried: tried(),
                source: Box::new(source),
            })?;
        Ok(self.access_by(Credentials::Token(answer.status.token)))
    }

    /// A client that may do everything.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    pub async fn client(&self) -> Result<Client, Error> {
        client(&self.access(&User::admin())?).await
    }

    /// A kubeconfig file that may do everything; it goes with the cluster.
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

/// A client that checks the server's certificate.
pub(super) async fn client(access: &Kubeconfig) -> Result<Client, Error> {
    Client::try_from(access.config().await?).map_err(|source| Error::Client {
        user: access.server.clone(),
        source: source.into(),
    })
}
