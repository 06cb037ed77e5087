use std::time::Duration;

use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::server::Server;
use crate::who::{Credentials, user_of_certificate};

/// How long a client may take for the handshake, or for the headers of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long requests under way may take once the server stops; watches would never end.
const FAREWELL: Duration = Duration::from_secs(2);
/// The most that the headers of a request may take, in bytes.
const HEADERS: u32 = 64 * 1024;
/// The most requests that one HTTP/2 connection has open; Kubernetes' own number.
const STREAMS: u32 = 100;

/// Serves one connection until the client leaves or the server stops.
pub(super) async fn serve_connection(
    server: Server,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    cancel: CancellationToken,
) {
    let handshake = tokio::select! {
        () = cancel.cancelled() => return,
        handshake = timeout(PATIENCE, acceptor.accept(stream)) => handshake,
    };
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a client failed the handshake"),
        Err(_) => return tracing::debug!("a client did not finish the handshake in time"),
    };
    let (_, session) = stream.get_ref();
    let certificate = session.peer_certificates().and_then(|chain| chain.first());
    let credentials = certificate
        .and_then(|certificate| user_of_certificate(certificate))
        .map_or(Credentials::Anonymous, Credentials::Certificate);
    let service = TowerToHyperService::new(server.service_for(credentials));

    let streams = TaskTracker::new();
    let mut builder = Builder::new(Owned(streams.clone()));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS as usize)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADERS)
        .max_concurrent_streams(STREAMS);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = cancel.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(FAREWELL, connection.as_mut()).await.ok()
        }
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(%error, "a connection broke");
    }
    streams.close();
    if timeout(FAREWELL, streams.wait()).await.is_err() {
        tracing::debug!("requests were still under way when their connection ended");
    }
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
