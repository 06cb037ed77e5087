//! The server: accepts connections within its limits, and closes them gracefully.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as HyperBody;
use hyper::service::{Service, service_fn};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::connection::{Http, Peer};
use crate::incoming::{Incoming, Stream};
use crate::slots::{Limits, Slot, Slots};

/// The backoff after a failed accept, whose usual cause is a lack of file descriptors.
const MIN_BACKOFF: Duration = Duration::from_millis(5);
const MAX_BACKOFF: Duration = Duration::from_secs(1);
/// How often failed accepts are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// How many overload responses are sent at once; further connections are closed.
const MAX_OVERLOAD_RESPONSES: usize = 16;
/// The timeout of each of them.
const OVERLOAD_TIMEOUT: Duration = Duration::from_secs(2);

/// A server on a socket or pipe.
pub struct Serving<B> {
    /// The source of connections.
    pub incoming: Incoming,
    /// TLS, timeouts and limits of each connection.
    pub http: Http,
    /// The limits of their number.
    pub limits: Limits,
    /// The response when all slots are taken by connections with requests in flight. Without it,
    /// new clients wait for a slot.
    pub overload_response: Option<fn() -> Response<B>>,
    /// How long the server still accepts requests after `stop`, if it has open connections.
    pub shutdown_delay: Duration,
    /// Stops the server.
    pub stop: CancellationToken,
}

/// Serves until `stop`, or until the source of connections ends; `service` creates the service of
/// each connection.
///
/// An error of a single connection does not stop the server.
///
/// # Cancel safety
///
/// If the future is dropped, all connections are closed at once.
pub async fn serve<F, S, B>(serving: Serving<B>, service: F)
where
    F: Fn(Peer) -> S + Send + Sync + 'static,
    S: Service<Request<HyperBody>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let Serving {
        incoming,
        http,
        limits,
        overload_response,
        shutdown_delay,
        stop,
    } = serving;
    let mut acceptor = Acceptor::new(incoming, Slots::new(limits));
    let shared = Arc::new((http, service));
    let closing = CancellationToken::new();
    let (mut connections, mut overload_responses) = (JoinSet::new(), JoinSet::new());
    let mut delay_over = pin!(async {
        stop.cancelled().await;
        sleep(shutdown_delay).await;
    });
    let (mut is_open, mut is_stopping) = (true, false);
    while is_open || !connections.is_empty() {
        let may_wait = overload_response.is_none();
        tokio::select! {
            biased;
            () = stop.cancelled(), if !is_stopping => {
                if connections.is_empty() {
                    break;
                }
                is_stopping = true;
            }
            () = &mut delay_over => break,
            Some(ended) = connections.join_next() => log_panic(ended),
            Some(ended) = overload_responses.join_next() => log_panic(ended),
            accepted = acceptor.next(may_wait), if is_open => match accepted {
                Accepted::Connection(stream, Some(slot)) => {
                    let (shared, closing) = (Arc::clone(&shared), closing.clone());
                    connections.spawn(async move {
                        let (http, service) = &*shared;
                        http.serve(stream, slot, service, &closing).await;
                    });
                }
                Accepted::Connection(stream, None) => {
                    if let Some(response) = overload_response
                        && overload_responses.len() < MAX_OVERLOAD_RESPONSES
                    {
                        overload_responses.spawn(send_overload_response(
                            stream,
                            shared.0.clone(),
                            response,
                        ));
                    }
                }
                Accepted::End => is_open = false,
            },
        }
    }
    closing.cancel();
    drop(acceptor);
    drop(overload_responses);
    while let Some(ended) = connections.join_next().await {
        log_panic(ended);
    }
}

/// A connection with or without a slot, or the end of the source.
enum Accepted {
    Connection(Box<dyn Stream>, Option<Slot>),
    End,
}

/// Accepts connections and takes slots for them.
struct Acceptor {
    incoming: Incoming,
    slots: Slots,
    backoff: Duration,
    logged: Option<Instant>,
    /// A connection that waits for a slot.
    waiting: Option<Box<dyn Stream>>,
}

impl Acceptor {
    fn new(incoming: Incoming, slots: Slots) -> Self {
        Self {
            incoming,
            slots,
            backoff: MIN_BACKOFF,
            logged: None,
            waiting: None,
        }
    }

    /// The next connection; a failed accept is retried. The connection has a slot, unless none is
    /// free and it may not wait for one.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no connection is lost.
    async fn next(&mut self, may_wait: bool) -> Accepted {
        loop {
            if self.waiting.is_none() {
                match self.incoming.accept().await {
                    Ok(Some(stream)) => self.waiting = Some(stream),
                    Ok(None) => return Accepted::End,
                    Err(error) => {
                        self.back_off(&error).await;
                        continue;
                    }
                }
                self.backoff = MIN_BACKOFF;
            }
            let slot = self.slots.take();
            if slot.is_none() && may_wait {
                self.slots.freed().await;
                continue;
            }
            if let Some(stream) = self.waiting.take() {
                return Accepted::Connection(stream, slot);
            }
        }
    }

    /// Waits before the next accept, and closes an idle connection to free its descriptor.
    async fn back_off(&mut self, error: &io::Error) {
        let is_due = |logged: Instant| logged.elapsed() >= LOG_INTERVAL;
        if self.logged.is_none_or(is_due) {
            self.logged = Some(Instant::now());
            tracing::warn!(%error, "accept a connection: retrying; further failures within a minute are not logged");
        }
        self.slots.evict();
        sleep(self.backoff).await;
        self.backoff = self.backoff.saturating_mul(2).min(MAX_BACKOFF);
    }
}

/// Sends the overload response to the first request of a connection, and closes it.
async fn send_overload_response<B>(
    stream: Box<dyn Stream>,
    http: Http,
    response: fn() -> Response<B>,
) where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let slots = Slots::new(Limits {
        open: 1,
        untrusted: 1,
    });
    let Some(slot) = slots.take() else {
        return;
    };
    let closing = CancellationToken::new();
    let service = |_: Peer| {
        let closing = closing.clone();
        service_fn(move |_: Request<HyperBody>| {
            closing.cancel();
            async move { Ok(response()) }
        })
    };
    let limited = Http {
        header_timeout: OVERLOAD_TIMEOUT,
        drain: OVERLOAD_TIMEOUT,
        ..http
    };
    limited.serve(stream, slot, service, &closing).await;
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the task of a connection panicked");
    }
}

impl<B> fmt::Debug for Serving<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("incoming", &self.incoming)
            .field("http", &self.http)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
