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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Response, StatusCode};
    use http_body_util::Full;
    use hyper::body::Incoming as HyperBody;
    use hyper::service::service_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::Notify;
    use tokio::task::JoinHandle;
    use tokio_util::sync::CancellationToken;

    use super::{Http, Incoming, Limits, Serving, serve};
    use crate::{Activity, InFlightBody, Peer};

    type TestBody = InFlightBody<Full<Bytes>>;

    /// Holds requests for `/held`.
    #[derive(Clone, Default)]
    struct Gate {
        arrived: Arc<Notify>,
        release: Arc<Notify>,
    }

    struct Server {
        address: std::net::SocketAddr,
        gate: Gate,
        stop: CancellationToken,
        task: JoinHandle<()>,
    }

    /// A server that responds to `/held` when it is released, and at once to other paths.
    async fn start(
        limits: Limits,
        overload_response: Option<fn() -> Response<TestBody>>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Gate::default();
        let stop = CancellationToken::new();
        let serving = Serving {
            incoming: Incoming::Socket(listener),
            http: Http {
                tls: None,
                header_timeout: Duration::from_secs(10),
                header_bytes: 64 * 1024,
                drain: Duration::from_secs(1),
            },
            limits,
            overload_response,
            shutdown_delay: Duration::ZERO,
            stop: stop.clone(),
        };
        let service_gate = gate.clone();
        let service = move |peer: Peer| {
            let gate = service_gate.clone();
            service_fn(move |request| handle(request, peer.activity.clone(), gate.clone()))
        };
        #[expect(clippy::disallowed_methods, reason = "the server of the test owns it")]
        let task = tokio::spawn(serve(serving, service));
        Server {
            address,
            gate,
            stop,
            task,
        }
    }

    async fn handle(
        request: Request<HyperBody>,
        activity: Activity,
        gate: Gate,
    ) -> Result<Response<TestBody>, Infallible> {
        let in_flight = activity.begin();
        if request.uri().path() == "/held" {
            gate.arrived.notify_one();
            gate.release.notified().await;
        }
        activity.trust();
        let body = InFlightBody::new(Full::from("hello"), in_flight);
        Ok(Response::new(body))
    }

    impl Server {
        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.unwrap()
        }

        async fn stop(self) {
            self.stop.cancel();
            self.task.await.unwrap();
        }
    }

    async fn get(stream: &mut TcpStream, path: &str) -> String {
        send(stream, path).await;
        let mut response = vec![0; 4096];
        let length = stream.read(&mut response).await.unwrap();
        String::from_utf8_lossy(&response[..length]).into_owned()
    }

    async fn send(stream: &mut TcpStream, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Whether the server has closed the connection.
    async fn is_closed(stream: &mut TcpStream) -> bool {
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut byte));
        matches!(read.await, Ok(Ok(0) | Err(_)))
    }

    #[tokio::test]
    async fn idle_connections_do_not_block_other_clients() {
        let limits = Limits {
            open: 1000,
            untrusted: 8,
        };
        let server = start(limits, None).await;
        let mut trusted = server.connect().await;
        assert!(get(&mut trusted, "/").await.ends_with("hello"));
        let mut idle = Vec::new();
        for _ in 0..40 {
            idle.push(server.connect().await);
        }
        assert!(
            get(&mut server.connect().await, "/")
                .await
                .ends_with("hello")
        );
        // The trusted connection stays open, and those that were idle longest are closed.
        assert!(get(&mut trusted, "/").await.ends_with("hello"));
        assert!(is_closed(&mut idle[0]).await);
        server.stop().await;
    }

    #[tokio::test]
    async fn clients_wait_while_all_connections_have_requests_in_flight() {
        let limits = Limits {
            open: 2,
            untrusted: 2,
        };
        let server = start(limits, None).await;
        let mut held = [server.connect().await, server.connect().await];
        for stream in &mut held {
            send(stream, "/held").await;
            server.gate.arrived.notified().await;
        }
        let mut third = server.connect().await;
        let release = async {
            tokio::task::yield_now().await;
            server.gate.release.notify_one();
        };
        let (response, ()) = tokio::join!(get(&mut third, "/"), release);
        assert!(response.ends_with("hello"), "{response}");
        server.stop().await;
    }

    #[tokio::test]
    async fn client_receives_the_overload_response_when_no_slot_is_free() {
        let overload_response = || {
            let mut response = Response::new(Full::from("full").into());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response
        };
        let limits = Limits {
            open: 1,
            untrusted: 1,
        };
        let server = start(limits, Some(overload_response)).await;
        let mut held = server.connect().await;
        send(&mut held, "/held").await;
        server.gate.arrived.notified().await;
        let mut second = server.connect().await;
        let response = get(&mut second, "/").await;
        assert!(
            response.contains("503") && response.ends_with("full"),
            "{response}"
        );
        assert!(is_closed(&mut second).await);
        server.gate.release.notify_one();
        server.stop().await;
    }
}
