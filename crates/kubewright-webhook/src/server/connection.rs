use std::sync::Arc;
use std::time::Duration;

use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::service_fn;

use super::answer::answer;
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
    pub(super) stop: CancellationToken,
}

/// Serves one connection until the client leaves or the server stops.
pub(super) async fn serve_connection(shared: Arc<Connection>, stream: Box<dyn Stream>) {
    let handshake = tokio::select! {
        () = shared.stop.cancelled() => return,
        handshake = timeout(PATIENCE, shared.acceptor.accept(stream)) => handshake,
    };
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a client failed the handshake"),
        Err(_) => return tracing::debug!("a client did not finish the handshake in time"),
    };
    let streams = TaskTracker::new();
    let mut builder = Builder::new(Owned(streams.clone()));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS);
    let builder = match shared.options.http2 {
        true => builder,
        false => builder.http1_only(),
    };
    let state = Arc::clone(&shared);
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, std::convert::Infallible>(answer(&state, request).await) }
    });
    let service = TowerToHyperService::new(service);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = shared.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(shared.options.drain, connection.as_mut()).await.ok()
        }
    };
    match ended {
        Some(Err(error)) => tracing::debug!(%error, "a connection broke"),
        Some(Ok(())) => {}
        None => tracing::warn!("a question was still open at the end of the grace period"),
    }
    streams.close();
    streams.wait().await;
}

/// Gives the tasks that hyper starts for the requests of a connection to that connection.
#[derive(Clone)]
struct Owned(TaskTracker);

impl<F> Executor<F> for Owned
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
