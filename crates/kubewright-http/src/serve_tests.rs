//! Tests of the serving of connections.

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

use crate::{Activity, Http, InFlightBody, Incoming, Limits, Peer, Serving, serve};

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
async fn start(limits: Limits, overload_response: Option<fn() -> Response<TestBody>>) -> Server {
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
