//! The webhooks of a running operator, and the server that they share.

use std::sync::Arc;

use kubewright_core::ConversionDescription;
use kubewright_runtime::informer::Informers;
use kubewright_webhook::review::AdmissionResponse;
use kubewright_webhook::{Routes, WebhookMetrics, WebhookServer};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::authorizer::Authorizer;
use super::builder::Webhook;
use super::certificate::CertificateRotator;
use super::conversion::Conversion;
use super::conversions::Conversions;
use super::environment::IdempotenceCheck;
use super::serving::{CertificateSource, WebhookServing};
use crate::Error;

/// The webhooks that an operator registers.
#[derive(Debug, Default)]
pub(crate) struct WebhookRegistrations {
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) conversions: Vec<Conversion>,
    pub(crate) authorizer: Option<Authorizer>,
}

impl WebhookRegistrations {
    pub(crate) fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.conversions.is_empty() && self.authorizer.is_none()
    }
}

/// The webhooks of a running operator, by path.
#[derive(Debug)]
pub(crate) struct OperatorWebhooks {
    routes: Routes,
    metrics: WebhookMetrics,
}

impl OperatorWebhooks {
    pub(crate) fn build(
        registrations: WebhookRegistrations,
        informers: &Informers,
        idempotence: IdempotenceCheck,
    ) -> Result<Self, Error> {
        let mut routes = Routes::default();
        let conversions = Conversions::join(&registrations.conversions)?;
        if !conversions.is_empty() {
            routes = routes.conversion(ConversionDescription::PATH, conversions.handler());
        }
        if let Some(authorizer) = &registrations.authorizer {
            routes = routes.authorization(Authorizer::PATH, authorizer.handler());
        }
        for webhook in registrations.webhooks {
            let mut built = webhook.build(informers)?;
            built.environment.idempotence = idempotence;
            routes = routes.admission(
                built.path,
                Arc::new(move |request, deadline| {
                    let handler = Arc::clone(&built.handler);
                    let environment = built.environment.clone();
                    Box::pin(async move {
                        match environment.synced(deadline).await {
                            Ok(()) => handler(request, environment).await,
                            Err(status) => AdmissionResponse::denied(status),
                        }
                    })
                }),
            );
        }
        let metrics = WebhookMetrics::default();
        for path in routes.paths() {
            metrics.prepare(path);
        }
        Ok(Self { routes, metrics })
    }

    /// Returns the metrics of the requests to come.
    pub(crate) fn metrics(&self) -> &WebhookMetrics {
        &self.metrics
    }

    /// Serves the webhooks until `stop` is cancelled, and replaces the certificate as its source
    /// changes.
    pub(crate) async fn serve(
        self,
        serving: WebhookServing,
        rotator: Option<CertificateRotator>,
        ready: oneshot::Sender<()>,
        stop: CancellationToken,
    ) {
        let certificates = serving.certificates;
        let server = WebhookServer::new(self.routes, certificates.clone()).metrics(self.metrics);
        #[cfg(feature = "http2")]
        let server = server.options(kubewright_webhook::ServeOptions {
            http2: true,
            ..kubewright_webhook::ServeOptions::default()
        });
        let (first, has_first) = oneshot::channel();
        let (incoming, server_stop) = (serving.incoming, stop.clone());
        let serve = async {
            // An error means that the operator stopped before it had a certificate.
            match has_first.await {
                Ok(()) => server.serve(incoming, ready, server_stop).await,
                Err(_) => Ok(()),
            }
        };
        let renew = async {
            match (rotator, serving.source) {
                (Some(rotator), _) => rotator.run(certificates, first, stop).await,
                // Sending fails if the server has stopped and needs no certificate.
                (None, CertificateSource::Files(files)) => {
                    first.send(()).ok();
                    files.follow(certificates, stop).await;
                }
                (None, _) => {
                    first.send(()).ok();
                }
            }
        };
        let (result, ()) = futures_util::future::join(serve, renew).await;
        if let Err(error) = result {
            tracing::error!(%error, "the webhooks are not served");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use kube::Client;
    use kube::client::Body;
    use kubewright_runtime::informer::Informers;
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::{IdempotenceCheck, OperatorWebhooks, WebhookRegistrations};
    use crate::kind;
    use crate::webhook::{Change, Findings, Webhook};

    #[tokio::test(start_paused = true)]
    async fn webhook_with_an_empty_cache_fails_the_request_after_its_timeout() {
        // The list that would fill the cache never gets a response.
        let silent = tower::service_fn(async |_: Request<Body>| {
            std::future::pending::<Result<Response<Body>, std::convert::Infallible>>().await
        });
        let informers = Informers::new(Client::new(silent, "default"), Default::default());
        let check = |_: &Change<ConfigMap>, _: &mut Findings| {};
        let registrations = WebhookRegistrations {
            webhooks: vec![Webhook::validates(check).reads(kind::<Node>())],
            ..WebhookRegistrations::default()
        };
        let webhooks =
            OperatorWebhooks::build(registrations, &informers, IdempotenceCheck::Off).unwrap();
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u", "operation": "CREATE", "object": {"metadata": {"name": "m"}}},
        });
        let (start, timeout) = (Instant::now(), Duration::from_secs(5));
        let path = "/validate--v1-configmap";
        let body = review.to_string().into_bytes().into();
        let bytes = webhooks.routes.handle(path, body, start + timeout).await;
        let review: Value = serde_json::from_slice(&bytes.unwrap()).unwrap();
        assert!(start.elapsed() >= timeout, "it waits for the whole timeout");
        let response = &review["response"];
        assert_eq!(response["allowed"], false, "{review}");
        assert_eq!(response["status"]["code"], 500, "{review}");
        let why = "the cache of nodes was not filled in time";
        let message = response["status"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
        informers.shutdown().await;
    }
}
