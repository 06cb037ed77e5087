//! Creates, renews and distributes the serving certificate of an operator.

use std::time::Duration;

use http::{Method, StatusCode};
use kube::Client;
use kubewright_core::{Clock, Description, PolicyRule};
use kubewright_manifest::{certificate_rules, secret_rules, webhook_service};
use kubewright_webhook::{Certificates, Rotation};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::ca_bundle::{CaBundle, ca_bundles};
use super::request::{has_code, send};
use super::secret::{from_secret, to_secret};

/// The interval of checks of the Secret and the configurations, as controller-runtime has for
/// certificate files.
const INTERVAL: Duration = Duration::from_secs(10);
/// The delay of the first retry; it doubles with each failure.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// A certificate that the operator creates and renews itself.
///
/// It is in a Secret of the operator's namespace, so that all replicas serve the same one; the
/// first replica creates it. The authority is written to the webhook configurations and the
/// definitions that refer to the operator, and written again if another client changes it. A
/// certificate is renewed when a third of its lifetime is left, in steps during which both
/// authorities are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedCertificates {
    /// The namespace of the operator and its Secret.
    pub namespace: String,
    /// The host names that the API server connects to.
    pub names: Vec<String>,
}

impl ManagedCertificates {
    /// Returns the certificate for the Service of an operator's manifests in this namespace.
    pub fn of_service(operator: &str, namespace: &str) -> Self {
        let host = format!("{}.{namespace}.svc", webhook_service(operator));
        Self {
            namespace: namespace.to_owned(),
            names: vec![host.clone(), format!("{host}.cluster.local")],
        }
    }

    /// Returns the rules that the operator needs for it.
    pub(crate) fn rules(&self, description: &Description) -> Vec<PolicyRule> {
        let mut rules = certificate_rules(description);
        rules.extend(secret_rules(&webhook_service(&description.name)));
        rules
    }
}

/// Rotates the certificate of a running operator.
pub(crate) struct CertificateRotator {
    client: Client,
    clock: Clock,
    managed: ManagedCertificates,
    secret: String,
    ca_bundles: Vec<CaBundle>,
}

impl CertificateRotator {
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
            ca_bundles: ca_bundles(description),
        }
    }

    /// Runs until `stop` is cancelled, and sends to `first` once a certificate can be served.
    pub(crate) async fn run(
        self,
        certificates: Certificates,
        first: oneshot::Sender<()>,
        stop: CancellationToken,
    ) {
        let (mut first, mut served) = (Some(first), None);
        let mut retry = FIRST_RETRY;
        loop {
            let delay = match self.step(&certificates, &mut served).await {
                // The next step serves the new rotation and writes its authorities.
                Ok(Step::Advanced) => Duration::ZERO,
                Ok(Step::UpToDate) => {
                    if let Some(first) = first.take() {
                        // Sending fails if the server has stopped.
                        first.send(()).ok();
                    }
                    retry = FIRST_RETRY;
                    INTERVAL
                }
                Err(error) => {
                    tracing::warn!(%error, "renew the certificate of the webhooks: will retry");
                    let delay = retry;
                    retry = (retry * 2).min(INTERVAL);
                    delay
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    /// Serves the certificate of the Secret, writes its authorities, and advances the rotation if
    /// that is due.
    async fn step(
        &self,
        certificates: &Certificates,
        served: &mut Option<Rotation>,
    ) -> Result<Step, RotationError> {
        let (rotation, revision) = self.current().await?;
        if served.as_ref() != Some(&rotation) {
            certificates.replace(&rotation.serving)?;
            *served = Some(rotation.clone());
        }
        // The rotation advances only after its current authorities are written everywhere.
        for bundle in &self.ca_bundles {
            bundle.write(&self.client, &rotation.trusted_pem()).await?;
        }
        let now = self.clock.now();
        let Some(next) = rotation.advance(&self.managed.names, now)? else {
            return Ok(Step::UpToDate);
        };
        tracing::info!(stage = ?next.progress.stage, "renewing the certificate of the webhooks");
        self.store(&next, Some(revision)).await?;
        Ok(Step::Advanced)
    }

    /// Returns the rotation that all replicas share, with its resource version. The first replica
    /// creates it.
    async fn current(&self) -> Result<(Rotation, Value), RotationError> {
        let response = send(&self.client, Method::GET, &self.path(), None).await;
        let secret = match response {
            Err(error) if has_code(&error, StatusCode::NOT_FOUND) => None,
            result => Some(result?),
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

    /// Stores the rotation. If another replica stored one first, that is an error, and the retry
    /// reads its rotation.
    async fn store(
        &self,
        rotation: &Rotation,
        revision: Option<Value>,
    ) -> Result<Value, RotationError> {
        let mut secret = to_secret(rotation, &self.managed.namespace, &self.secret);
        let (method, path) = match revision {
            None => (Method::POST, self.collection()),
            Some(revision) => {
                secret["metadata"]["resourceVersion"] = revision;
                (Method::PUT, self.path())
            }
        };
        let stored = send(&self.client, method, &path, Some(&secret)).await;
        stored.map_err(|error| {
            if has_code(&error, StatusCode::CONFLICT) {
                RotationError::Conflict
            } else {
                error.into()
            }
        })
    }

    fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets", self.managed.namespace)
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.secret)
    }
}

/// The result of a step.
enum Step {
    /// Nothing is due.
    UpToDate,
    /// The stored rotation has advanced. The next stage is never due at once, so this ends.
    Advanced,
}

/// The error of a step, after which it is retried.
#[derive(Debug, thiserror::Error)]
enum RotationError {
    #[error("another replica stored a certificate first")]
    Conflict,
    #[error("send a request to the API server: {0}")]
    Server(#[from] kube::Error),
    #[error(transparent)]
    Certificate(#[from] kubewright_webhook::Error),
}
