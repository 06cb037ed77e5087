//! The server of `/metrics`.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use kubewright_runtime::client::RequestMetrics;
use kubewright_runtime::controller::Handle;
use kubewright_runtime::election::Leadership;
use kubewright_runtime::events::EventRecorder;
use kubewright_runtime::informer::Informers;
use kubewright_runtime::metrics::{
    write_controllers, write_election, write_informers, write_process, write_requests,
};
use kubewright_runtime::prometheus::{Exposition, MetricKind};
use kubewright_webhook::{CertificateFiles, Certificates, Incoming, WebhookMetrics};

use super::reviews::ReviewClient;
use super::server::{Handler, text, typed};
use crate::webhook::write_webhooks;

/// How an operator's metrics are served.
#[derive(Debug)]
pub struct MetricsServing {
    /// The connections of scrapers.
    pub incoming: Incoming,
    /// The access control.
    pub access: MetricsAccess,
}

/// The access control of an operator's metrics.
#[derive(Debug)]
pub enum MetricsAccess {
    /// Any client that reaches the port, over plain HTTP.
    Anyone,
    /// Users whom the API server authenticates by their token (TokenReview) and authorizes to `get`
    /// the path `/metrics` (SubjectAccessReview), over HTTPS.
    Reviewed {
        /// The certificate that is served.
        certificates: Certificates,
        /// The files of the certificate, if it is reloaded when they change.
        files: Option<CertificateFiles>,
    },
}

/// Writes metrics of the user.
pub(crate) type ExtraMetrics = Arc<dyn Fn(&mut Exposition) + Send + Sync>;

/// The sources of an operator's metrics.
pub(crate) struct MetricsPage {
    pub(crate) controllers: Vec<Handle>,
    pub(crate) informers: Informers,
    pub(crate) requests: RequestMetrics,
    pub(crate) webhooks: WebhookMetrics,
    pub(crate) events: EventRecorder,
    /// The name of the Lease, if a leader is elected.
    pub(crate) lease: Option<String>,
    pub(crate) leadership: Leadership,
    pub(crate) extra: Vec<ExtraMetrics>,
}

impl MetricsPage {
    /// Returns the handler of `/metrics`. With `reviews`, each request is checked.
    pub(crate) fn handler(self: Arc<Self>, reviews: Option<ReviewClient>) -> Handler {
        Arc::new(move |head| {
            let (page, reviews) = (Arc::clone(&self), reviews.clone());
            Box::pin(async move { page.respond(&head, reviews).await })
        })
    }

    async fn respond(&self, head: &Parts, reviews: Option<ReviewClient>) -> Response<Full<Bytes>> {
        if let Some(reviews) = reviews
            && let Err(response) = reviews.check(head).await
        {
            return response;
        }
        if head.uri.path() != "/metrics" {
            return text(StatusCode::NOT_FOUND, "404 page not found\n");
        }
        match head.method {
            Method::GET | Method::HEAD => {
                typed(StatusCode::OK, Exposition::MEDIA_TYPE, self.write())
            }
            _ => text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n"),
        }
    }

    fn write(&self) -> String {
        let mut page = Exposition::default();
        write_controllers(&mut page, &self.controllers);
        write_informers(&mut page, &self.informers.stats());
        write_requests(&mut page, &self.requests);
        write_webhooks(&mut page, &self.webhooks);
        if let Some(lease) = &self.lease {
            write_election(&mut page, lease, &self.leadership);
        }
        page.family(
            "kubewright_events_lost_total",
            "Events that were dropped because they could not be written fast enough",
            MetricKind::Counter,
        )
        .count(&[], self.events.lost());
        write_process(&mut page);
        for extra in &self.extra {
            extra(&mut page);
        }
        page.into_text()
    }
}

impl fmt::Debug for MetricsPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsPage").finish_non_exhaustive()
    }
}
