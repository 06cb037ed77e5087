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

use super::Access;
use super::server::{Handler, text, typed};
use crate::webhook::write_webhooks;

/// Where metrics are served, and to whom.
#[derive(Debug)]
pub struct MetricsServing {
    /// Where scrapers connect to.
    pub incoming: Incoming,
    /// Who may read them.
    pub access: MetricsAccess,
}

/// Who may read an operator's metrics.
#[derive(Debug)]
pub enum MetricsAccess {
    /// Whoever reaches the port, over plain HTTP.
    Anyone,
    /// Whom the API server knows by their token (TokenReview) and lets `get` the path `/metrics`
    /// (SubjectAccessReview), over HTTPS.
    Reviewed {
        /// What scrapers are shown.
        certificates: Certificates,
        /// The files that the certificate came from, when changes of these are to be followed.
        files: Option<CertificateFiles>,
    },
}

/// Writes metrics of the user's own.
pub(crate) type ExtraMetrics = Arc<dyn Fn(&mut Exposition) + Send + Sync>;

/// All that the metrics of an operator are made of.
pub(crate) struct MetricsPage {
    pub(crate) controllers: Vec<Handle>,
    pub(crate) informers: Informers,
    pub(crate) requests: RequestMetrics,
    pub(crate) webhooks: WebhookMetrics,
    pub(crate) events: EventRecorder,
    /// The Lease's name, where a leader is elected.
    pub(crate) lease: Option<String>,
    pub(crate) leadership: Leadership,
    pub(crate) extra: Vec<ExtraMetrics>,
}

impl MetricsPage {
    /// Answers `/metrics`, to those whom `access` lets pass.
    pub(crate) fn handler(self: Arc<Self>, access: Option<Access>) -> Handler {
        Arc::new(move |head| {
            let (page, access) = (Arc::clone(&self), access.clone());
            Box::pin(async move { page.answer(&head, access).await })
        })
    }

    async fn answer(&self, head: &Parts, access: Option<Access>) -> Response<Full<Bytes>> {
        if let Some(access) = access
            && let Err(refusal) = access.check(head).await
        {
            return refusal;
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
            "Events that came faster than they could be written",
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
