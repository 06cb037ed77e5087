//! A small HTTP server for probes and metrics.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use kubewright_http::{Activity, Http, Incoming, Limits, Peer, Serving, serve};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The maximum number of connections: a kubelet and a few scrapers. Every Pod can reach these
/// servers, so idle connections are closed in favor of new ones.
const LIMITS: Limits = Limits {
    open: 64,
    untrusted: 32,
};
/// The timeout of a handshake and of the head of a request, as in controller-runtime.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The maximum size of the head of a request, in bytes.
const HEADER_BYTES: u32 = 64 * 1024;
/// The timeout of responses in progress when the server stops.
const DRAIN: Duration = Duration::from_secs(30);

/// Handles a request by its head; bodies are ignored.
pub(crate) type Handler =
    Arc<dyn Fn(Parts) -> BoxFuture<'static, Response<Full<Bytes>>> + Send + Sync>;

/// A small HTTP server.
pub(crate) struct Endpoint {
    pub(crate) incoming: Incoming,
    /// Without TLS the server is plain HTTP.
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) handler: Handler,
}

impl Endpoint {
    /// Serves until `stop` is cancelled, and completes responses in progress.
    pub(crate) async fn serve(self, stop: CancellationToken) {
        let serving = Serving {
            incoming: self.incoming,
            http: Http {
                tls: self.tls,
                header_timeout: HEADER_TIMEOUT,
                header_bytes: HEADER_BYTES,
                drain: DRAIN,
            },
            limits: LIMITS,
            overload_response: None,
            shutdown_delay: Duration::ZERO,
            stop,
        };
        let handler = self.handler;
        serve(serving, move |peer: Peer| {
            let (handler, activity) = (Arc::clone(&handler), peer.activity);
            service_fn(move |request: Request<HyperBody>| {
                let (head, _) = request.into_parts();
                respond(handler(head), activity.clone())
            })
        })
        .await;
    }
}

/// Returns the response. Meanwhile the connection counts as active and is not closed in favor of
/// another. A successful response marks the client as trusted.
async fn respond(
    response: impl Future<Output = Response<Full<Bytes>>>,
    activity: Activity,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let in_flight = activity.begin();
    let response = response.await;
    if response.status().is_success() {
        activity.trust();
    }
    drop(in_flight);
    Ok(response)
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("incoming", &self.incoming)
            .finish_non_exhaustive()
    }
}

/// Returns a response with plain text.
pub(super) fn text(code: StatusCode, text: impl Into<String>) -> Response<Full<Bytes>> {
    typed(code, "text/plain; charset=utf-8", text.into())
}

/// Returns a response with text of that media type, which browsers must not guess otherwise.
pub(super) fn typed(
    code: StatusCode,
    media_type: &'static str,
    text: String,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}
