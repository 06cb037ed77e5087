use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_http::{Http, Limits, Peer, Serving, serve};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::answer::answer;
use super::{Incoming, Routes, WebhookMetrics};
use crate::{Certificates, Error};

/// The most connections that are open at once. Every Pod can reach this server: connections that
/// only wait are closed for new ones, those that never sent a review first.
const LIMITS: Limits = Limits {
    open: 1024,
    unproven: 512,
};
/// How long a client may take for the handshake, or for the headers of a request; the longest
/// that the API server waits is 30 seconds.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The most that the headers of a request may take, in bytes.
const HEADER_BYTES: u32 = 64 * 1024;

/// What servers may differ in.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The most bytes that a review may have; the API server's objects are smaller.
    pub body_limit: usize,
    /// How long a question without a time limit of its own may take.
    pub timeout: Duration,
    /// How long a server that stops still takes questions. A connection that is closed may have one
    /// on its way, which would be lost; so each answer says first that it is the connection's last.
    pub farewell: Duration,
    /// How long questions under way may take after that.
    pub drain: Duration,
    /// Whether HTTP/2 is offered too. The API server does not need it, and without it its weak
    /// spots (rapid reset) are not there either.
    #[cfg(feature = "http2")]
    pub http2: bool,
}

/// 7 MiB, 10 seconds, half a second, 30 seconds, HTTP/1.1 alone.
impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            body_limit: 7 * 1024 * 1024,
            timeout: Duration::from_secs(10),
            farewell: Duration::from_millis(500),
            drain: Duration::from_secs(30),
            #[cfg(feature = "http2")]
            http2: false,
        }
    }
}

impl ServeOptions {
    /// What a client may choose from in the handshake.
    fn protocols(&self) -> &'static [&'static str] {
        #[cfg(feature = "http2")]
        if self.http2 {
            return &["h2", "http/1.1"];
        }
        &["http/1.1"]
    }
}

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) routes: Routes,
    pub(super) options: ServeOptions,
    pub(super) metrics: WebhookMetrics,
    /// Clients are told to connect elsewhere.
    pub(super) stop: CancellationToken,
}

/// Answers reviews over TLS.
#[derive(Debug)]
pub struct WebhookServer {
    routes: Routes,
    certificates: Certificates,
    options: ServeOptions,
    metrics: WebhookMetrics,
}

impl WebhookServer {
    /// A server that answers `routes` and shows `certificates`.
    pub fn new(routes: Routes, certificates: Certificates) -> Self {
        Self {
            routes,
            certificates,
            options: ServeOptions::default(),
            metrics: WebhookMetrics::default(),
        }
    }

    /// The same, counting with these metrics.
    #[must_use]
    pub fn metrics(mut self, metrics: WebhookMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self
    }

    /// Answers until it is stopped, or until nobody can connect any more; `ready` is told once
    /// connections are taken. Stopped with a connection open, it takes questions for
    /// [`ServeOptions::farewell`]; those under way then have [`ServeOptions::drain`] to be answered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, every connection is closed at once.
    pub async fn serve(
        self,
        incoming: Incoming,
        ready: oneshot::Sender<()>,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let shared = Arc::new(Shared {
            routes: self.routes,
            metrics: self.metrics,
            stop: stop.clone(),
            options: self.options,
        });
        let serving = Serving {
            incoming,
            http: Http {
                tls: Some(TlsAcceptor::from(
                    self.certificates.tls(shared.options.protocols())?,
                )),
                header_timeout: HEADER_TIMEOUT,
                header_bytes: HEADER_BYTES,
                drain: shared.options.drain,
            },
            limits: LIMITS,
            refusal: None,
            farewell: shared.options.farewell,
            stop,
        };
        // The receiver is gone when its owner no longer waits.
        ready.send(()).unwrap_or_default();
        serve(serving, move |peer: Peer| {
            let (shared, activity) = (Arc::clone(&shared), peer.activity);
            service_fn(move |request: Request<HyperBody>| {
                let (shared, activity) = (Arc::clone(&shared), activity.clone());
                async move { Ok::<_, Infallible>(answer(&shared, &activity, request).await) }
            })
        })
        .await;
        Ok(())
    }
}
