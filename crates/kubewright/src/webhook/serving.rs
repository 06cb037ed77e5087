use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kubewright_core::ConversionDescription;
use kubewright_runtime::informer::{Informer, Informers};
use kubewright_webhook::review::AdmissionResponse;
use kubewright_webhook::{
    CertificateFiles, Certificates, Incoming, Routes, WebhookMetrics, WebhookServer,
};
use kubewright_wire::status::Status;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{Authorizer, CertificateKeeper, Conversion, Conversions, ManagedCertificates, Webhook};
use crate::Error;
use crate::controller::Views;

/// Where and with which certificate an operator's webhooks are served.
#[derive(Debug)]
pub struct WebhookServing {
    /// Where the API server connects to.
    pub incoming: Incoming,
    /// What it is shown.
    pub certificates: Certificates,
    /// Where the certificate comes from.
    pub source: CertificateSource,
    /// Whether mutating webhooks are checked to be idempotent; for tests.
    pub idempotence: IdempotenceCheck,
}

impl WebhookServing {
    /// The certificate that the operator looks after, if it does.
    pub(crate) fn managed(&self) -> Option<&ManagedCertificates> {
        match &self.source {
            CertificateSource::Managed(managed) => Some(managed),
            CertificateSource::Static | CertificateSource::Files(_) => None,
        }
    }
}

/// Where the certificate of webhooks comes from while they are served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateSource {
    /// The certificate does not change.
    #[default]
    Static,
    /// Changes of these files are followed.
    Files(CertificateFiles),
    /// The operator makes and renews it.
    Managed(ManagedCertificates),
}

/// Whether each mutating webhook is checked to be idempotent, as Kubernetes requires: the API server
/// may call it again with its own result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdempotenceCheck {
    /// The function is called once per request.
    #[default]
    Off,
    /// The function is called twice. The request fails if the second call changes the result of the
    /// first.
    On,
}

/// The kinds that a webhook reads.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    views: Arc<Views>,
    informers: Arc<[Informer]>,
    pub(super) idempotence: IdempotenceCheck,
}

impl Reads {
    pub(super) fn new(views: Arc<Views>, informers: Vec<Informer>) -> Self {
        Self {
            views,
            informers: informers.into(),
            idempotence: IdempotenceCheck::Off,
        }
    }

    pub(super) fn views(&self) -> &Views {
        &self.views
    }

    /// Waits until everything is there: what a webhook cannot see yet it must not decide by.
    async fn synced(&self, deadline: Instant) -> Result<(), Status> {
        for informer in self.informers.iter() {
            let failed = |why: &str| {
                let what = &informer.spec().resource.plural;
                Status::internal(format!("the cache of {what} {why}"))
            };
            match timeout_at(deadline, informer.synced()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(failed("was stopped before it was filled")),
                Err(_) => return Err(failed("was not filled in time")),
            }
        }
        Ok(())
    }
}

/// None at all.
impl Default for Reads {
    fn default() -> Self {
        let views = Views::new("webhook", HashMap::new(), HashSet::new());
        Self::new(Arc::new(views), Vec::new())
    }
}

/// All that the API server may ask an operator.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) conversions: Vec<Conversion>,
    pub(crate) authorizer: Option<Authorizer>,
}

impl Questions {
    pub(crate) fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.conversions.is_empty() && self.authorizer.is_none()
    }
}

/// The webhooks of a running operator.
#[derive(Debug)]
pub(crate) struct WebhookParts {
    routes: Routes,
    metrics: WebhookMetrics,
}

impl WebhookParts {
    pub(crate) fn build(
        questions: Questions,
        informers: &Informers,
        idempotence: IdempotenceCheck,
    ) -> Result<Self, Error> {
        let mut routes = Routes::default();
        let conversions = Conversions::join(&questions.conversions)?;
        if !conversions.is_empty() {
            routes = routes.conversion(ConversionDescription::PATH, conversions.handler());
        }
        if let Some(authorizer) = &questions.authorizer {
            routes = routes.authorization(Authorizer::PATH, authorizer.handler());
        }
        for webhook in questions.webhooks {
            let (path, handler, mut reads) = webhook.build(informers)?;
            reads.idempotence = idempotence;
            routes = routes.admission(
                path,
                Arc::new(move |request, deadline| {
                    let (handler, reads) = (Arc::clone(&handler), reads.clone());
                    Box::pin(async move {
                        match reads.synced(deadline).await {
                            Ok(()) => handler(request, reads).await,
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

    /// What will have been answered.
    pub(crate) fn metrics(&self) -> &WebhookMetrics {
        &self.metrics
    }

    /// Serves until it is stopped, and keeps the certificate as its source has it.
    pub(crate) async fn serve(
        self,
        serving: WebhookServing,
        keeper: Option<CertificateKeeper>,
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
        let (incoming, stopped) = (serving.incoming, stop.clone());
        let served = async {
            // An error means that it was stopped before there was a certificate.
            match has_first.await {
                Ok(()) => server.serve(incoming, ready, stopped).await,
                Err(_) => Ok(()),
            }
        };
        let kept = async {
            match (keeper, serving.source) {
                (Some(keeper), _) => keeper.run(certificates, first, stop).await,
                (None, CertificateSource::Files(files)) => {
                    first.send(()).unwrap_or_default();
                    files.follow(certificates, stop).await;
                }
                (None, _) => first.send(()).unwrap_or_default(),
            }
        };
        let (served, ()) = futures_util::future::join(served, kept).await;
        if let Err(error) = served {
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

    use super::{IdempotenceCheck, Questions, WebhookParts};
    use crate::kind;
    use crate::webhook::{Change, Findings, Webhook};

    /// The API server never answers the list that would fill the cache.
    #[tokio::test(start_paused = true)]
    async fn a_webhook_whose_cache_is_not_filled_answers_an_error_and_never_allows() {
        let silent = tower::service_fn(async |_: Request<Body>| {
            std::future::pending::<Result<Response<Body>, std::convert::Infallible>>().await
        });
        let informers = Informers::new(Client::new(silent, "default"), Default::default());
        let check = |_: &Change<ConfigMap>, _: &mut Findings| {};
        let questions = Questions {
            webhooks: vec![Webhook::validates(check).reads(kind::<Node>())],
            ..Questions::default()
        };
        let parts = WebhookParts::build(questions, &informers, IdempotenceCheck::Off).unwrap();
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u", "operation": "CREATE", "object": {"metadata": {"name": "m"}}},
        });
        let (start, time) = (Instant::now(), Duration::from_secs(5));
        let path = "/validate--v1-configmap";
        let review = review.to_string().into_bytes().into();
        let answer = parts.routes.handle(path, review, start + time).await;
        let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
        assert!(start.elapsed() >= time, "it waits as long as it may");
        let response = &answer["response"];
        assert_eq!(response["allowed"], false, "{answer}");
        assert_eq!(response["status"]["code"], 500, "{answer}");
        let why = "the cache of nodes was not filled in time";
        let message = response["status"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
        informers.shutdown().await;
    }
}
