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
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use kubewright_webhook::{Incoming, Stream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The most connections at once: a kubelet and a few scrapers.
const CONNECTIONS: usize = 64;
/// How long a client may take for the handshake, or for the head of a request; as
/// controller-runtime has it.
const PATIENCE: Duration = Duration::from_secs(32);
/// The most that the head of a request may take, in bytes.
const HEAD: usize = 64 * 1024;

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
    /// Answers until `stop`; answers under way are finished.
    pub(crate) async fn serve(mut self, stop: CancellationToken) {
        let mut connections = JoinSet::new();
        loop {
            let has_room = connections.len() < CONNECTIONS;
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = connections.join_next() => drop::<Result<(), _>>(ended),
                stream = self.incoming.accept(), if has_room => match stream {
                    Some(stream) => {
                        let (tls, handler) = (self.tls.clone(), Arc::clone(&self.handler));
                        let stop = stop.clone();
                        connections.spawn(connection(stream, tls, handler, stop));
                    }
                    None => break,
                },
            }
        }
        while connections.join_next().await.is_some() {}
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("incoming", &self.incoming)
            .finish_non_exhaustive()
    }
}

async fn connection(
    stream: Box<dyn Stream>,
    tls: Option<TlsAcceptor>,
    handler: Handler,
    stop: CancellationToken,
) {
    let stream: Box<dyn Stream> = match tls {
        None => stream,
        Some(tls) => match timeout(PATIENCE, tls.accept(stream)).await {
            Ok(Ok(stream)) => Box::new(stream),
            Ok(Err(error)) => return tracing::debug!(%error, "a client failed the handshake"),
            Err(_) => return tracing::debug!("a client did not finish the handshake in time"),
        },
    };
    let service = service_fn(move |request: Request<HyperBody>| {
        let (head, _) = request.into_parts();
        let answer = handler(head);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
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
