//! The server: accepts connections, keeps their number within its limits, and closes them.

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
use crate::slots::{Limits, Slots};

/// After a failed accept, which is most often a lack of file descriptors.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LAST_WAIT: Duration = Duration::from_secs(1);
/// How often failed accepts are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// How many connections are told at once that there is no room.
const REFUSALS: usize = 16;
/// How long each of them may take.
const REFUSAL_TIME: Duration = Duration::from_secs(2);

/// A server on a socket or pipe.
pub struct Serving<B> {
    /// Where connections come from.
    pub incoming: Incoming,
    /// How they are served.
    pub http: Http,
    /// How many there may be.
    pub limits: Limits,
    /// The response to a client for which there is no room: all other connections do work. None
    /// lets such clients wait.
    pub refusal: Option<fn() -> Response<B>>,
    /// How long the server still takes requests after `stop`, if it has open connections.
    pub farewell: Duration,
    /// Stops the server.
    pub stop: CancellationToken,
}

/// Serves until `stop`, or until no connection can come any more; `service` makes the service for
/// each connection.
///
/// No failure of a single connection ends this.
///
/// # Cancel safety
///
/// Dropped, every connection is closed at once.
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
        refusal,
        farewell,
        stop,
    } = serving;
    let mut acceptor = Acceptor::new(incoming, Slots::new(limits));
    let shared = Arc::new((http, service));
    let closing = CancellationToken::new();
    let (mut connections, mut refusals) = (JoinSet::new(), JoinSet::new());
    let mut over = pin!(async {
        stop.cancelled().await;
        sleep(farewell).await;
    });
    let (mut is_open, mut is_leaving) = (true, false);
    while is_open || !connections.is_empty() {
        let may_wait = refusal.is_none();
        tokio::select! {
            biased;
            () = stop.cancelled(), if !is_leaving => {
                if connections.is_empty() {
                    break;
                }
                is_leaving = true;
            }
            () = &mut over => break,
            Some(ended) = connections.join_next() => note(ended),
            Some(ended) = refusals.join_next() => note(ended),
            accepted = acceptor.next(may_wait), if is_open => match accepted {
                Accepted::Connection(stream, Some(slot)) => {
                    let (shared, closing) = (Arc::clone(&shared), closing.clone());
                    connections.spawn(async move {
                        let (http, service) = &*shared;
                        http.serve(stream, slot, service, &closing).await;
                    });
                }
                Accepted::Connection(stream, None) => {
                    if let Some(response) = refusal && refusals.len() < REFUSALS {
                        refusals.spawn(refuse(stream, shared.0.clone(), response));
                    }
                }
                Accepted::End => is_open = false,
            },
        }
    }
    closing.cancel();
    drop(acceptor);
    drop(refusals);
    while let Some(ended) = connections.join_next().await {
        note(ended);
    }
}

/// A connection with or without a place, or the end.
enum Accepted {
    Connection(Box<dyn Stream>, Option<crate::slots::Slot>),
    End,
}

/// Takes connections and finds places for them.
struct Acceptor {
    incoming: Incoming,
    slots: Slots,
    wait: Duration,
    logged: Option<Instant>,
    /// A connection that waits for a place.
    waiting: Option<Box<dyn Stream>>,
}

impl Acceptor {
    fn new(incoming: Incoming, slots: Slots) -> Self {
        Self {
            incoming,
            slots,
            wait: FIRST_WAIT,
            logged: None,
            waiting: None,
        }
    }

    /// The next connection, however often accepting fails before. It has a place, unless there is
    /// none and it may not wait for one.
    ///
    /// # Cancel safety
    ///
    /// A connection is either returned or still waits.
    async fn next(&mut self, may_wait: bool) -> Accepted {
        loop {
            if self.waiting.is_none() {
                match self.incoming.accept().await {
                    Ok(Some(stream)) => self.waiting = Some(stream),
                    Ok(None) => return Accepted::End,
                    Err(error) => {
                        self.failed(&error).await;
                        continue;
                    }
                }
                self.wait = FIRST_WAIT;
            }
            let slot = self.slots.take();
            if slot.is_none() && may_wait {
                self.slots.room().await;
                continue;
            }
            if let Some(stream) = self.waiting.take() {
                return Accepted::Connection(stream, slot);
            }
        }
    }

    /// Without descriptors a connection that does nothing is closed for the one that waits.
    async fn failed(&mut self, error: &io::Error) {
        let is_due = |logged: Instant| logged.elapsed() >= LOG_INTERVAL;
        if self.logged.is_none_or(is_due) {
            self.logged = Some(Instant::now());
            tracing::warn!(%error, "accept a connection: trying again; further failures within a minute are not logged");
        }
        self.slots.evict();
        sleep(self.wait).await;
        self.wait = self.wait.saturating_mul(2).min(LAST_WAIT);
    }
}

/// Tells a client that there is no room for it.
async fn refuse<B>(stream: Box<dyn Stream>, http: Http, response: fn() -> Response<B>)
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let slots = Slots::new(Limits {
        open: 1,
        unproven: 1,
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
    let http = Http {
        header_timeout: REFUSAL_TIME,
        drain: REFUSAL_TIME,
        ..http
    };
    http.serve(stream, slot, service, &closing).await;
}

fn note(ended: Result<(), JoinError>) {
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
    use crate::{Activity, Peer, WorkingBody};

    type Reply = WorkingBody<Full<Bytes>>;

    struct Server {
        address: std::net::SocketAddr,
        /// A request for `/held` has arrived.
        arrived: Arc<Notify>,
        release: Arc<Notify>,
        stop: CancellationToken,
        task: JoinHandle<()>,
    }

    /// A server that replies to `/held` when it is released, and at once to all else.
    async fn start(limits: Limits, refusal: Option<fn() -> Response<Reply>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let [arrived, release] = [(); 2].map(|()| Arc::new(Notify::new()));
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
            refusal,
            farewell: Duration::ZERO,
            stop: stop.clone(),
        };
        let gates = (Arc::clone(&arrived), Arc::clone(&release));
        let service = move |peer: Peer| {
            let gates = gates.clone();
            service_fn(move |request| reply(request, peer.activity.clone(), gates.clone()))
        };
        #[expect(clippy::disallowed_methods, reason = "the server of the test owns it")]
        let task = tokio::spawn(serve(serving, service));
        Server {
            address,
            arrived,
            release,
            stop,
            task,
        }
    }

    async fn reply(
        request: Request<HyperBody>,
        activity: Activity,
        (arrived, release): (Arc<Notify>, Arc<Notify>),
    ) -> Result<Response<Reply>, Infallible> {
        let working = activity.begin();
        if request.uri().path() == "/held" {
            arrived.notify_one();
            release.notified().await;
        }
        activity.prove();
        let body = WorkingBody::new(Full::from("hello"), working);
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
        let mut reply = vec![0; 4096];
        let length = stream.read(&mut reply).await.unwrap();
        String::from_utf8_lossy(&reply[..length]).into_owned()
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
    async fn silent_connections_lock_nobody_out() {
        let server = start(
            Limits {
                open: 1000,
                unproven: 8,
            },
            None,
        )
        .await;
        let mut honest = server.connect().await;
        assert!(get(&mut honest, "/").await.ends_with("hello"));
        let mut silent = Vec::new();
        for _ in 0..40 {
            silent.push(server.connect().await);
        }
        assert!(
            get(&mut server.connect().await, "/")
                .await
                .ends_with("hello")
        );
        // One that was used stays open, the longest silent ones are closed.
        assert!(get(&mut honest, "/").await.ends_with("hello"));
        assert!(is_closed(&mut silent[0]).await);
        server.stop().await;
    }

    #[tokio::test]
    async fn clients_wait_while_all_connections_work() {
        let limits = Limits {
            open: 2,
            unproven: 2,
        };
        let server = start(limits, None).await;
        let mut held = [server.connect().await, server.connect().await];
        for stream in &mut held {
            send(stream, "/held").await;
            server.arrived.notified().await;
        }
        let mut third = server.connect().await;
        let release = async {
            tokio::task::yield_now().await;
            server.release.notify_one();
        };
        let (reply, ()) = tokio::join!(get(&mut third, "/"), release);
        assert!(reply.ends_with("hello"), "{reply}");
        server.stop().await;
    }

    #[tokio::test]
    async fn client_without_room_receives_a_response() {
        let refusal = || {
            let mut response = Response::new(Full::from("full").into());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response
        };
        let limits = Limits {
            open: 1,
            unproven: 1,
        };
        let server = start(limits, Some(refusal)).await;
        let mut held = server.connect().await;
        send(&mut held, "/held").await;
        server.arrived.notified().await;
        let mut refused = server.connect().await;
        let reply = get(&mut refused, "/").await;
        assert!(reply.contains("503") && reply.ends_with("full"), "{reply}");
        assert!(is_closed(&mut refused).await);
        server.release.notify_one();
        server.stop().await;
    }
}
