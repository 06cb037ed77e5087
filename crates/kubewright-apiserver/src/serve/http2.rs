use std::pin::pin;
use std::time::Duration;

use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{FAREWELL, HEADERS, drive};
use crate::request::InProcess;

/// The most requests that one connection has open; Kubernetes' own number.
const STREAMS: u32 = 100;
/// How often a client that says nothing is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// How long it may take to answer that.
const PONG: Duration = Duration::from_secs(20);

/// Whether the client has chosen it. Over TLS nobody speaks it unasked (RFC 9113, 3.2).
pub(super) fn is_chosen<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(b"h2".as_slice())
}

/// Serves one connection until the client leaves or the server stops.
pub(super) async fn serve<S>(
    stream: TlsStream<S>,
    service: TowerToHyperService<InProcess>,
    cancel: &CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let requests = TaskTracker::new();
    let connection = http2::Builder::new(Owned(requests.clone()))
        .timer(TokioTimer::new())
        .max_header_list_size(HEADERS)
        .max_concurrent_streams(STREAMS)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .serve_connection(TokioIo::new(stream), service);
    drive(pin!(connection), cancel).await;
    requests.close();
    if timeout(FAREWELL, requests.wait()).await.is_err() {
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
