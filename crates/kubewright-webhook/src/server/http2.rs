use hyper::rt::Executor;
use tokio_rustls::server::TlsStream;
use tokio_util::task::TaskTracker;

/// What HTTP/2 is called in a handshake.
pub(super) const NAME: &str = "h2";

/// Whether the client has chosen it. Over TLS nobody speaks it unasked (RFC 9113, 3.2).
pub(super) fn is_chosen<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(NAME.as_bytes())
}

/// The tasks that hyper starts for the requests of a connection, which owns them.
#[derive(Clone, Default)]
pub(super) struct Streams(TaskTracker);

impl Streams {
    /// Waits until all have ended.
    pub(super) async fn ended(self) {
        self.0.close();
        self.0.wait().await;
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
