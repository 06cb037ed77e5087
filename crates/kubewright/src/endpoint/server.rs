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

/// The most connections at once: a kubelet and a few scrapers. Every Pod can reach these servers,
/// so connections that only wait are closed for new ones.
const LIMITS: Limits = Limits {
    open: 64,
    untrusted: 32,
};
/// How long a client may take for the handshake, or for the head of a request; as
/// controller-runtime has it.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The most that the head of a request may take, in bytes.
const HEADER_BYTES: u32 = 64 * 1024;
/// How long responses under way may take once the server stops.
const DRAIN: Duration = Duration::from_secs(30);

/// Answers a request by its head; bodies are of no interest here.
pub(crate) type Handler =
    Arc<dyn Fn(Parts) -> BoxFuture<'static, Response<Full<Bytes>>> + Send + Sync>;

/// A small HTTP server.
pub(crate) struct Endpoint {
    pub(crate) incoming: Incoming,
    /// Without it, plain HTTP is spoken.
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) handler: Handler,
}

impl Endpoint {
    /// Serves until `stop`; responses under way are finished.
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

/// Waits for a response. While it is computed, the connection is not closed for another; a client
/// that gets what it asks for is known.
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

/// A text as an answer.
pub(super) fn text(code: StatusCode, text: impl Into<String>) -> Response<Full<Bytes>> {
    typed(code, "text/plain; charset=utf-8", text.into())
}

/// A text of that media type as an answer, which no browser may take for something else.
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
