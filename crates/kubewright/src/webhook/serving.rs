use std::sync::Arc;

use kubewright_runtime::cache::View;
use kubewright_runtime::informer::{Informer, Informers};
use kubewright_webhook::review::AdmissionResponse;
use kubewright_webhook::{CertificateFiles, Certificates, Incoming, Routes, WebhookServer};
use kubewright_wire::status::Status;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Webhook;
use crate::Error;
use crate::registration::{TypedKind, Views};

/// Where and with which certificate an operator's webhooks are served.
#[derive(Debug)]
pub struct WebhookServing {
    /// Where the API server connects to.
    pub incoming: Incoming,
    /// What it is shown.
    pub certificates: Certificates,
    /// The files that the certificate came from, when changes of these are to be followed.
    pub files: Option<CertificateFiles>,
    /// Whether each mutator is called twice, as the API server may; for tests.
    pub repetition: Repetition,
}

/// Whether mutators are called twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repetition {
    /// Once for each question.
    #[default]
    Once,
    /// Twice, and the question is answered with an error when the second call changes what the
    /// first one made: then the webhook does not bear being asked again.
    Checked,
}

/// The kinds that a webhook reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    views: Option<Arc<Views>>,
    informers: Arc<[Informer]>,
    pub(super) repetition: Repetition,
}

impl Reads {
    pub(super) fn new(views: Arc<Views>, informers: Vec<Informer>) -> Self {
        Self {
            views: Some(views),
            informers: informers.into(),
            repetition: Repetition::Once,
        }
    }

    pub(super) fn view<K: TypedKind>(&self) -> Result<&View<K>, Error> {
        match &self.views {
            Some(views) => views.view::<K>(),
            None => Err(Error::Unregistered {
                controller: "webhook".to_owned(),
                kind: K::kind(&()).into_owned(),
                selection: format!("kind::<{}>()", K::kind(&())),
            }),
        }
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

/// The webhooks of a running operator.
#[derive(Debug)]
pub(crate) struct WebhookParts {
    routes: Routes,
}

impl WebhookParts {
    pub(crate) fn build(
        webhooks: Vec<Webhook>,
        informers: &Informers,
        repetition: Repetition,
    ) -> Result<Self, Error> {
        let mut routes = Routes::default();
        for webhook in webhooks {
            let (path, handler, mut reads) = webhook.build(informers)?;
            reads.repetition = repetition;
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
        Ok(Self { routes })
    }

    /// Serves until it is stopped, following the files of the certificate.
    pub(crate) async fn serve(
        self,
        serving: WebhookServing,
        ready: oneshot::Sender<()>,
        stop: CancellationToken,
    ) {
        let server = WebhookServer::new(self.routes, serving.certificates.clone());
        let served = server.serve(serving.incoming, ready, stop.clone());
        let followed = async {
            match &serving.files {
                Some(files) => {
                    files
                        .follow(serving.certificates.clone(), stop.clone())
                        .await
                }
                None => stop.cancelled().await,
            }
        };
        let (served, ()) = futures_util::future::join(served, followed).await;
        if let Err(error) = served {
            tracing::error!(%error, "the webhooks are not served");
        }
    }
}
