use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming as HyperBody;
use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::answer::answer;
#[cfg(feature = "http2")]
use super::http2::{Streams, is_chosen};
use super::incoming::Stream;
use super::{Routes, ServeOptions, WebhookMetrics};

/// How long a client may take for the handshake, or for the headers of a request; the longest
/// that the API server waits is 30 seconds.
const PATIENCE: Duration = Duration::from_secs(32);
/// The most that the headers of a request may take, in bytes.
const HEADERS: usize = 64 * 1024;

/// What all connections of a server share.
pub(super) struct Connection {
    pub(super) acceptor: TlsAcceptor,
    pub(super) routes: Routes,
    pub(super) options: ServeOptions,
    pub(super) metrics: WebhookMetrics,
    /// Clients are told to ask elsewhere.
    pub(super) stop: CancellationToken,
    /// Nothing more is read.
    pub(super) closing: CancellationToken,
}

/// Serves one connection until the client leaves or the server stops.
pub(super) async fn serve_connection(shared: Arc<Connection>, stream: Box<dyn Stream>) {
    let handshake = tokio::select! {
        () = shared.closing.cancelled() => return,
        handshake = timeout(PATIENCE, shared.acceptor.accept(stream)) => handshake,
    };
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a client failed the handshake"),
        Err(_) => return tracing::debug!("a client did not finish the handshake in time"),
    };
    #[cfg(feature = "http2")]
    let is_http2 = is_chosen(&stream);
    let stream = TokioIo::new(stream);
    let state = Arc::clone(&shared);
    let service = service_fn(move |request: Request<HyperBody>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(&state, request).await) }
    });
    #[cfg(feature = "http2")]
    if is_http2 {
        let streams = Streams::default();
        let builder = http2::Builder::new(streams.clone());
        let connection = builder.serve_connection(stream, service);
        drive(&shared, pin!(connection)).await;
        return streams.ended().await;
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS)
        .serve_connection(stream, service);
    drive(&shared, pin!(connection)).await;
}

/// Answers until the client leaves. Once the server closes, questions under way have their time.
async fn drive(
    shared: &Connection,
    mut connection: Pin<&mut impl GracefulConnection<Error = hyper::Error>>,
) {
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = shared.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(shared.options.drain, connection.as_mut()).await.ok()
        }
    };
    match ended {
        Some(Err(error)) => tracing::debug!(%error, "a connection broke"),
        Some(Ok(())) => {}
        None => tracing::warn!("a question was still open at the end of the grace period"),
    }
}
