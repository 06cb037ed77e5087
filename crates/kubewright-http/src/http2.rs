//! Settings and request tasks of HTTP/2 connections.

use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_util::task::TaskTracker;

/// The name of the protocol in ALPN.
pub(crate) const ALPN_NAME: &[u8] = b"h2";
/// The most requests in flight on one connection; the number of Kubernetes.
pub(crate) const MAX_CONCURRENT_STREAMS: u32 = 100;
/// How often the server pings a client that sends nothing.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long the client may take to acknowledge a ping.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Whether client and server agreed on HTTP/2, which TLS connections require (RFC 9113, 3.2).
pub(crate) fn is_negotiated<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(ALPN_NAME)
}

/// The tasks that hyper starts for the requests of a connection, which owns them.
#[derive(Clone, Default)]
pub(crate) struct RequestTasks(TaskTracker);

impl RequestTasks {
    /// Waits until all have ended, or until the timeout.
    pub(crate) async fn wait(self, limit: Duration) {
        self.0.close();
        if timeout(limit, self.0.wait()).await.is_err() {
            tracing::debug!("an HTTP/2 connection was closed with requests in flight");
        }
    }
}

impl<F> Executor<F> for RequestTasks
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
