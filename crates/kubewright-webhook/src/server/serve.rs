use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, serve_connection};
use super::{Incoming, Routes, WebhookMetrics};
use crate::{Certificates, Error};

/// The most connections that are open at once; more wait in the listener's queue.
const CONNECTIONS: usize = 1024;

/// What servers may differ in.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The most bytes that a review may have; the API server's objects are smaller.
    pub body_limit: usize,
    /// How long a question without a time limit of its own may take.
    pub timeout: Duration,
    /// How long a server that stops still takes questions. A connection that is closed may have one
    /// on its way, which would be lost; so each answer says first that it is the connection's last.
    pub farewell: Duration,
    /// How long questions under way may take after that.
    pub drain: Duration,
    /// Whether HTTP/2 is offered too. The API server does not need it, and without it its weak
    /// spots (rapid reset) are not there either.
    #[cfg(feature = "http2")]
    pub http2: bool,
}

/// 7 MiB, 10 seconds, half a second, 30 seconds, HTTP/1.1 alone.
impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            body_limit: 7 * 1024 * 1024,
            timeout: Duration::from_secs(10),
            farewell: Duration::from_millis(500),
            drain: Duration::from_secs(30),
            #[cfg(feature = "http2")]
            http2: false,
        }
    }
}

impl ServeOptions {
    /// What a client may choose from in the handshake.
    fn protocols(&self) -> &'static [&'static str] {
        #[cfg(feature = "http2")]
        if self.http2 {
            return &[super::http2::NAME, "http/1.1"];
        }
        &["http/1.1"]
    }
}

/// Answers reviews over TLS.
#[derive(Debug)]
pub struct WebhookServer {
    routes: Routes,
    certificates: Certificates,
    options: ServeOptions,
    metrics: WebhookMetrics,
}

impl WebhookServer {
    /// A server that answers `routes` and shows `certificates`.
    pub fn new(routes: Routes, certificates: Certificates) -> Self {
        Self {
            routes,
            certificates,
            options: ServeOptions::default(),
            metrics: WebhookMetrics::default(),
        }
    }

    /// The same, counting with these metrics.
    #[must_use]
    pub fn metrics(mut self, metrics: WebhookMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self
    }

    /// Answers until it is stopped, or until nobody can connect any more; `ready` is told once
    /// connections are taken. Stopped with a connection open, it takes questions for
    /// [`ServeOptions::farewell`]; those under way then have [`ServeOptions::drain`] to be answered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, every connection is closed at once.
    pub async fn serve(
        self,
        mut incoming: Incoming,
        ready: oneshot::Sender<()>,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let closing = CancellationToken::new();
        let farewell = self.options.farewell;
        let connection = Arc::new(Connection {
            acceptor: TlsAcceptor::from(self.certificates.tls(self.options.protocols())?),
            routes: self.routes,
            options: self.options,
            metrics: self.metrics,
            stop: stop.clone(),
            closing: closing.clone(),
        });
        let mut connections = JoinSet::new();
        // Nobody waits for it any more when this fails.
        ready.send(()).unwrap_or_default();
        let mut over = pin!(async {
            stop.cancelled().await;
            sleep(farewell).await;
        });
        let (mut is_open, mut is_leaving) = (true, false);
        while is_open || !connections.is_empty() {
            let has_room = is_open && connections.len() < CONNECTIONS;
            tokio::select! {
                biased;
                () = stop.cancelled(), if !is_leaving => match connections.is_empty() {
                    true => break,
                    false => is_leaving = true,
                },
                () = &mut over => break,
                Some(ended) = connections.join_next() => note(ended),
                stream = incoming.accept(), if has_room => match stream {
                    Some(stream) => {
                        connections.spawn(serve_connection(Arc::clone(&connection), stream));
                    }
                    None => is_open = false,
                },
            }
        }
        closing.cancel();
        drop(incoming);
        while let Some(ended) = connections.join_next().await {
            note(ended);
        }
        Ok(())
    }
}

fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection fell over");
    }
}
