//! What HTTP/2 needs beside HTTP/1.1.

use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_util::task::TaskTracker;

/// The name of the protocol in a handshake.
pub(crate) const NAME: &[u8] = b"h2";
/// The most requests that one connection has open; Kubernetes' own number.
pub(crate) const STREAMS: u32 = 100;
/// How often a client that sends nothing is asked for a sign of life.
pub(crate) const PING: Duration = Duration::from_secs(30);
/// How long it may take to respond to that.
pub(crate) const PONG: Duration = Duration::from_secs(20);

/// Whether the client has chosen it. Over TLS it is never spoken without that (RFC 9113, 3.2).
pub(crate) fn is_chosen<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(NAME)
}

/// The tasks that hyper starts for the requests of a connection, which owns them.
#[derive(Clone, Default)]
pub(crate) struct Streams(TaskTracker);

impl Streams {
    /// Waits until all have ended, for so long at most.
    pub(crate) async fn ended(self, limit: Duration) {
        self.0.close();
        if timeout(limit, self.0.wait()).await.is_err() {
            tracing::debug!("requests were still under way when their connection ended");
        }
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
