//! The webhook server: TLS, connection limits and shutdown.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_http::{Http, Incoming, Limits, Peer, Serving, serve};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::metrics::WebhookMetrics;
use super::options::ServeOptions;
use super::request::{ServerState, handle};
use super::routes::Routes;
use crate::certificate::Certificates;
use crate::error::Error;

/// The most connections that are open at once. Every Pod can reach this server: idle connections
/// are closed for new ones, those that never sent a review first.
const LIMITS: Limits = Limits {
    open: 1024,
    untrusted: 512,
};
/// The timeout of the TLS handshake, and of the headers of a request. It is longer than the longest
/// timeout of the API server, which is 30 seconds.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The largest size of the headers of a request, in bytes.
const HEADER_BYTES: u32 = 64 * 1024;

/// Serves webhooks over TLS.
#[derive(Debug)]
pub struct WebhookServer {
    routes: Routes,
    certificates: Certificates,
    options: ServeOptions,
    metrics: WebhookMetrics,
}

impl WebhookServer {
    /// A server with these handlers and certificates.
    pub fn new(routes: Routes, certificates: Certificates) -> Self {
        Self {
            routes,
            certificates,
            options: ServeOptions::default(),
            metrics: WebhookMetrics::default(),
        }
    }

    /// Records its requests in these metrics.
    #[must_use]
    pub fn metrics(mut self, metrics: WebhookMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets limits and timeouts.
    #[must_use]
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self
    }

    /// Serves until `stop`, or until the source of connections ends. `ready` is sent once
    /// connections are accepted.
    ///
    /// After `stop`, open connections can send requests for [`ServeOptions::shutdown_delay`]; those
    /// in flight then have [`ServeOptions::drain`] to complete.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, all connections are closed at once.
    pub async fn serve(
        self,
        incoming: Incoming,
        ready: oneshot::Sender<()>,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let state = Arc::new(ServerState {
            routes: self.routes,
            metrics: self.metrics,
            stop: stop.clone(),
            options: self.options,
        });
        let serving = Serving {
            incoming,
            http: Http {
                tls: Some(TlsAcceptor::from(
                    self.certificates.tls(state.options.protocols())?,
                )),
                header_timeout: HEADER_TIMEOUT,
                header_bytes: HEADER_BYTES,
                drain: state.options.drain,
            },
            limits: LIMITS,
            overload_response: None,
            shutdown_delay: state.options.shutdown_delay,
            stop,
        };
        // The caller may have dropped the receiver: it need not wait.
        ready.send(()).ok();
        serve(serving, move |peer: Peer| {
            let (state, activity) = (Arc::clone(&state), peer.activity);
            service_fn(move |request: Request<HyperBody>| {
                let (state, activity) = (Arc::clone(&state), activity.clone());
                async move { Ok::<_, Infallible>(handle(&state, &activity, request).await) }
            })
        })
        .await;
        Ok(())
    }
}
