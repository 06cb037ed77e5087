use std::time::Duration;

use http::{Method, StatusCode};
use kube::Client;
use kubewright_core::{Clock, Description, PolicyRule};
use kubewright_manifest::{certificate_rules, secret_rules, webhook_service};
use kubewright_webhook::{Certificates, Rotation};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::bundle::{Trusting, is, send, trusting};
use super::secret::{from_secret, to_secret};

/// How often the Secret and the configurations are looked at; controller-runtime looks at
/// certificate files as often.
const INTERVAL: Duration = Duration::from_secs(10);
/// How soon a failure is tried again at first; then twice as long each time.
const RETRY: Duration = Duration::from_secs(1);

/// A certificate that the operator makes, renews and has trusted by itself.
///
/// It lies in a Secret of the operator's namespace, so that all replicas serve the same one;
/// whoever comes first makes it. The authority is written into the webhook configurations and the
/// definitions that name the operator, and written again when somebody changes it. A certificate
/// is renewed a third of its life before it ends, in steps during which both authorities are
/// trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedCertificates {
    /// Where the operator runs, and its Secret lies.
    pub namespace: String,
    /// The host names that the API server calls.
    pub names: Vec<String>,
}

impl ManagedCertificates {
    /// For the Service that the manifests of an operator have in this namespace.
    pub fn of_service(operator: &str, namespace: &str) -> Self {
        let host = format!("{}.{namespace}.svc", webhook_service(operator));
        Self {
            namespace: namespace.to_owned(),
            names: vec![host.clone(), format!("{host}.cluster.local")],
        }
    }

    /// What the operator must be allowed to do for it.
    pub(crate) fn rules(&self, description: &Description) -> Vec<PolicyRule> {
        let mut rules = certificate_rules(description);
        rules.extend(secret_rules(&webhook_service(&description.name)));
        rules
    }
}

/// Keeps the certificate of a running operator right.
pub(crate) struct CertificateKeeper {
    client: Client,
    clock: Clock,
    managed: ManagedCertificates,
    secret: String,
    trusting: Vec<Trusting>,
}

impl CertificateKeeper {
    pub(crate) fn new(
        client: Client,
        clock: Clock,
        description: &Description,
        managed: ManagedCertificates,
    ) -> Self {
        Self {
            client,
            clock,
            managed,
            secret: webhook_service(&description.name),
            trusting: trusting(description),
        }
    }

    /// Works until it is stopped; `first` is told once there is a certificate to serve.
    pub(crate) async fn run(
        self,
        certificates: Certificates,
        first: oneshot::Sender<()>,
        stop: CancellationToken,
    ) {
        let (mut first, mut shown) = (Some(first), None);
        let mut retry = RETRY;
        loop {
            let pause = match self.look(&certificates, &mut shown).await {
                // The next look serves it and has it trusted.
                Ok(Look::Stepped) => Duration::ZERO,
                Ok(Look::Settled) => {
                    if let Some(first) = first.take() {
                        // Nobody waits any more when this fails.
                        first.send(()).unwrap_or_default();
                    }
                    retry = RETRY;
                    INTERVAL
                }
                Err(error) => {
                    tracing::warn!(%error, "keep the webhooks' certificate: trying again");
                    let pause = retry;
                    retry = (retry * 2).min(INTERVAL);
                    pause
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Serves what the Secret holds, has it trusted, and takes the next step when one is due.
    async fn look(
        &self,
        certificates: &Certificates,
        shown: &mut Option<Rotation>,
    ) -> Result<Look, Failure> {
        let (rotation, revision) = self.current().await?;
        if shown.as_ref() != Some(&rotation) {
            certificates.replace(&rotation.serving)?;
            *shown = Some(rotation.clone());
        }
        // A step is only taken once everybody has been told of the one before.
        for one in &self.trusting {
            one.trust(&self.client, &rotation.trusted_pem()).await?;
        }
        let now = self.clock.now();
        let Some(next) = rotation.advance(&self.managed.names, now)? else {
            return Ok(Look::Settled);
        };
        tracing::info!(stage = ?next.progress.stage, "the webhooks' certificate is renewed");
        self.store(&next, Some(revision)).await?;
        Ok(Look::Stepped)
    }

    /// What all replicas share; whoever comes first makes it.
    async fn current(&self) -> Result<(Rotation, Value), Failure> {
        let found = send(&self.client, Method::GET, &self.place(), None).await;
        let secret = match found {
            Err(error) if is(&error, StatusCode::NOT_FOUND) => None,
            other => Some(other?),
        };
        let revision = secret
            .as_ref()
            .map(|secret| secret["metadata"]["resourceVersion"].clone());
        if let Some(rotation) = secret.as_ref().and_then(from_secret) {
            return Ok((rotation, revision.unwrap_or_default()));
        }
        let rotation = Rotation::first(&self.managed.names, self.clock.now())?;
        let stored = self.store(&rotation, revision).await?;
        Ok((rotation, stored["metadata"]["resourceVersion"].clone()))
    }

    /// Stores what all replicas share, unless another one was faster: that is an error, after
    /// which its work is looked at.
    async fn store(&self, rotation: &Rotation, revision: Option<Value>) -> Result<Value, Failure> {
        let mut secret = to_secret(rotation, &self.managed.namespace, &self.secret);
        let (method, path) = match revision {
            None => (Method::POST, self.collection()),
            Some(revision) => {
                secret["metadata"]["resourceVersion"] = revision;
                (Method::PUT, self.place())
            }
        };
        let stored = send(&self.client, method, &path, Some(&secret)).await;
        stored.map_err(|error| match is(&error, StatusCode::CONFLICT) {
            true => Failure::Overtaken,
            false => error.into(),
        })
    }

    fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets", self.managed.namespace)
    }

    fn place(&self) -> String {
        format!("{}/{}", self.collection(), self.secret)
    }
}

/// What a look came to.
enum Look {
    /// All is as it should be.
    Settled,
    /// What all replicas share has changed. The step after it is not due at once, or this would
    /// never end.
    Stepped,
}

/// Why a look came to nothing.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("another replica was faster")]
    Overtaken,
    #[error("ask the API server: {0}")]
    Server(#[from] kube::Error),
    #[error(transparent)]
    Certificate(#[from] kubewright_webhook::Error),
}
