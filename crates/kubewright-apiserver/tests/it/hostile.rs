//! Clients that send malformed or incomplete requests, or do not read: each gets an error or is
//! disconnected, costs little, and does not affect other clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, pause, resume, sleep, timeout};
use tokio_rustls::client::TlsStream;
use tower::ServiceExt;

use crate::client::Client;
use crate::socket::{Socket, get};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Longer than any response takes, so that a test that hangs fails.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
const MEGABYTE: usize = 1024 * 1024;

async fn connected(socket: &Socket) -> TlsStream<TcpStream> {
    let admin = socket.client("root", &["system:masters"]);
    socket.connect(Some(admin), &["http/1.1"]).await.unwrap()
}

fn create(framing: &str) -> String {
    format!(
        "POST {MAPS} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{framing}\r\n\r\n"
    )
}

async fn serves_others(socket: &Socket) {
    let admin = socket.client("other", &["system:masters"]);
    let request = socket.call(Some(admin), get("/api/v1/namespaces"));
    let (code, _) = timeout(RESPONSE_TIMEOUT, request).await.unwrap();
    assert_eq!(code, 200);
}

/// Everything the server still says. An end without TLS's own is an end.
async fn rest(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut rest = Vec::new();
    timeout(RESPONSE_TIMEOUT, stream.read_to_end(&mut rest))
        .await
        .expect("the server keeps the connection open")
        .ok();
    String::from_utf8_lossy(&rest).into_owned()
}

async fn add_large_maps(server: &Server, count: usize) {
    let admin = Client::admin(server);
    let data = "x".repeat(MEGABYTE);
    for n in 0..count {
        let map = json!({"metadata": {"name": format!("m{n}")}, "data": {"d": data}});
        admin.post(MAPS, &map).await.ok();
    }
}

#[tokio::test]
async fn incomplete_body_fails_with_504_after_a_minute() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let mut stream = connected(&socket).await;
    let half = create("content-length: 100") + "{\"metadata\":";
    stream.write_all(half.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    serves_others(&socket).await;
    pause();
    sleep(Duration::from_secs(61)).await;
    resume();
    let response = rest(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 504 "), "{response}");
    assert!(
        response.contains(
            "\"message\":\"Timeout: request did not complete within the allotted timeout\""
        ),
        "{response}"
    );
    socket.close().await;
}

#[tokio::test]
async fn truncated_body_creates_nothing() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let whole = json!({"metadata": {"name": "a"}}).to_string();
    for framing in [
        format!("content-length: {}", whole.len() + 1),
        "transfer-encoding: chunked".to_owned(),
    ] {
        let mut stream = connected(&socket).await;
        let mut sent = create(&framing);
        if framing.starts_with("transfer") {
            sent += &format!("{:x}\r\n", whole.len() + 1);
        }
        stream.write_all((sent + &whole).as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        rest(&mut stream).await;
    }
    serves_others(&socket).await;
    let admin = Client::admin(&server);
    assert_eq!(admin.get(&format!("{MAPS}/a")).await.code, 404);
    socket.close().await;
}

#[tokio::test]
async fn announced_body_of_100_megabytes_is_rejected_unread() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let mut stream = connected(&socket).await;
    let head = create("content-length: 104857600");
    stream.write_all(head.as_bytes()).await.unwrap();
    let response = rest(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    assert!(
        response.contains("Request entity too large: limit is 3145728"),
        "{response}"
    );
    socket.close().await;
}

#[tokio::test]
async fn chunked_body_of_100_megabytes_is_rejected_after_three() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    serves_others(&socket).await;
    let before = resident();
    let (mut reader, mut writer) = split(connected(&socket).await);
    let head = create("transfer-encoding: chunked");
    writer.write_all(head.as_bytes()).await.unwrap();
    let (response, sent) = tokio::join!(rest(&mut reader), async {
        let mut piece = b"10000\r\n".to_vec();
        piece.extend([b' '; 0x10000]);
        piece.extend(b"\r\n");
        let mut sent = 0;
        while sent < 100 * MEGABYTE && writer.write_all(&piece).await.is_ok() {
            sent += piece.len();
        }
        sent
    });
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}, {sent}");
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * MEGABYTE, "{grown}");
    serves_others(&socket).await;
    socket.close().await;
}

#[tokio::test]
async fn watch_ends_when_its_client_closes_its_half() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let mut stream = connected(&socket).await;
    let watch =
        format!("GET {MAPS}?watch=1&allowWatchBookmarks=true HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(watch.as_bytes()).await.unwrap();
    let mut head = [0; 15];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    stream.shutdown().await.unwrap();
    rest(&mut stream).await;
    serves_others(&socket).await;
    socket.close().await;
}

#[tokio::test]
async fn watch_that_is_never_read_is_closed_after_a_minute() {
    let server = Server::new(ServerOptions::default());
    add_large_maps(&server, 16).await;
    let socket = Socket::open(&server).await;
    let mut stream = connected(&socket).await;
    let watch = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(watch.as_bytes()).await.unwrap();
    serves_others(&socket).await;
    pause();
    sleep(Duration::from_secs(61)).await;
    resume();
    let seen = rest(&mut stream).await;
    assert!(seen.starts_with("HTTP/1.1 200 OK"));
    assert!(seen.len() < 16 * MEGABYTE, "{}", seen.len());
    socket.close().await;
}

#[tokio::test]
async fn incomplete_bodies_and_unread_watches_do_not_block_other_clients() {
    let server = Server::new(ServerOptions::default());
    add_large_maps(&server, 8).await;
    let socket = Socket::open(&server).await;
    let mut held = Vec::new();
    for n in 0..20 {
        let mut stream = connected(&socket).await;
        let sent = match n % 2 {
            0 => create("content-length: 3000000") + "{",
            _ => format!("GET {MAPS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        };
        stream.write_all(sent.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        held.push(stream);
    }
    serves_others(&socket).await;
    let admin = socket.client("writer", &["system:masters"]);
    let map = json!({"metadata": {"name": "between"}}).to_string();
    let request = Request::post(MAPS)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::<Bytes>::from(map))
        .unwrap();
    let (code, _) = timeout(RESPONSE_TIMEOUT, socket.call(Some(admin), request))
        .await
        .unwrap();
    assert_eq!(code, 201);
    drop(held);
    socket.close().await;
}

/// More connections than the server lets wait without credentials, and than it once had in all.
#[tokio::test]
async fn idle_connections_do_not_block_new_clients() {
    kubewright_http::raise_descriptor_limit();
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let watch = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut watching = connected(&socket).await;
    watching.write_all(watch.as_bytes()).await.unwrap();
    let mut head = [0; 15];
    watching.read_exact(&mut head).await.unwrap();
    let admin = socket.client("other", &["system:masters"]);
    let mut idle = Vec::new();
    // Less than the time after which the server gives up a client that says nothing.
    let served = timeout(Duration::from_secs(8), async {
        for _ in 0..1200 {
            idle.push(TcpStream::connect(socket.address).await.unwrap());
        }
        socket.call(Some(admin), get("/api/v1/namespaces")).await
    });
    assert_eq!(served.await.unwrap().0, 200);
    // What was under way goes on.
    add_large_maps(&server, 1).await;
    let mut event = [0; 4096];
    let read = timeout(RESPONSE_TIMEOUT, watching.read(&mut event))
        .await
        .unwrap();
    assert!(read.unwrap() > 0);
    socket.close().await;
}

/// A request that takes seconds: thousands of operations on a long list.
async fn long_request(server: &Server) -> Request<Full<Bytes>> {
    let admin = Client::admin(server);
    let definition = json!({
        "metadata": {"name": "pots.ex.io"},
        "spec": {
            "group": "ex.io", "scope": "Namespaced", "names": {"plural": "pots", "kind": "Pot"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    admin.post(definitions, &definition).await.ok();
    let pots = "/apis/ex.io/v1/namespaces/default/pots";
    let list: Vec<usize> = (0..300_000).collect();
    let pot = json!({
        "apiVersion": "ex.io/v1", "kind": "Pot", "metadata": {"name": "a"}, "spec": {"l": list},
    });
    admin.post(pots, &pot).await.ok();
    let operation = json!({"op": "add", "path": "/spec/l/0", "value": 1});
    let patch = json!(vec![operation; 10_000]).to_string();
    Request::patch(format!("{pots}/a"))
        .header("host", "localhost")
        .header("content-type", "application/json-patch+json")
        .body(Full::from(patch))
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn long_request_does_not_delay_others() {
    let server = Server::new(ServerOptions::default());
    let long = long_request(&server).await;
    let socket = Socket::open(&server).await;
    let client = |name: &str| Some(socket.client(name, &["system:masters"]));
    let begun = Instant::now();
    let mut long = Box::pin(async {
        let (code, _) = socket.call(client("slow"), long).await;
        (code, begun.elapsed())
    });
    let mut longest = Duration::ZERO;
    let mut served = 0;
    let (code, took) = loop {
        let sent = Instant::now();
        let request = socket.call(client("quick"), get("/api/v1/namespaces"));
        tokio::select! {
            ended = long.as_mut() => break ended,
            (code, _) = request => assert_eq!(code, 200),
        }
        longest = longest.max(sent.elapsed());
        served += 1;
    };
    assert_eq!(code, 200);
    assert!(served > 4, "{served} requests in {took:?}");
    assert!(longest < took / 4, "{longest:?} of {took:?}");
    drop(long);
    socket.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn server_does_not_wait_for_long_requests_when_it_stops() {
    let server = Server::new(ServerOptions::default());
    let long = long_request(&server).await;
    let socket = Socket::open(&server).await;
    let (parts, body) = long.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let head = format!(
        "PATCH {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json-patch+json\r\n\
         content-length: {}\r\n\r\n",
        parts.uri,
        body.len()
    );
    // Together they take much longer than the server waits.
    let mut streams = Vec::new();
    for _ in 0..10 {
        let admin = socket.client("slow", &["system:masters"]);
        let mut stream = socket.connect(Some(admin), &["http/1.1"]).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap();
        stream.flush().await.unwrap();
        streams.push(stream);
    }
    serves_others(&socket).await;
    let begun = Instant::now();
    socket.close().await;
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn server_with_an_open_watch_stops_at_once() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let mut stream = connected(&socket).await;
    let watch = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(watch.as_bytes()).await.unwrap();
    let mut head = [0; 15];
    stream.read_exact(&mut head).await.unwrap();
    let stopped = timeout(Duration::from_secs(1), socket.close()).await;
    assert!(stopped.is_ok());
    rest(&mut stream).await;
}

/// Of a watch that is behind, only the piece that is being sent is in memory.
#[tokio::test(start_paused = true)]
async fn watch_sends_large_objects_in_separate_chunks() {
    let server = Server::new(ServerOptions::default());
    add_large_maps(&server, 6).await;
    let pieces = async |path: &str| {
        let request = Request::get(path).body(Full::<Bytes>::default()).unwrap();
        let response = server.service(User::admin()).oneshot(request).await;
        let mut body = response.unwrap().into_body();
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap().len() / MEGABYTE);
        }
        pieces
    };
    let state = pieces(&format!("{MAPS}?watch=1&timeoutSeconds=1")).await;
    assert_eq!(state, [1; 6]);
    let first = server.store().revision().number() - 6;
    let changes = format!("{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={first}");
    assert_eq!(pieces(&changes).await, [1; 6]);
}

#[tokio::test(start_paused = true)]
async fn watch_behind_the_byte_limit_of_the_history_fails_with_410() {
    let server = Server::new(ServerOptions {
        history_bytes: 10 * MEGABYTE,
        ..ServerOptions::default()
    });
    let admin = Client::admin(&server);
    add_large_maps(&server, 1).await;
    let begin = server.store().revision();
    let path = format!("{MAPS}/m0");
    for n in 0..8 {
        let data = format!("{n}").repeat(MEGABYTE);
        admin.merge(&path, &json!({"data": {"d": data}})).await.ok();
    }
    let events = |from: u64| {
        let path = format!("{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={from}");
        let admin = admin.clone();
        async move { admin.events(&path).await }
    };
    let behind = events(begin.number()).await;
    assert_eq!(behind[0]["type"], "ERROR");
    assert_eq!(behind[0]["object"]["code"], 410);
    assert_eq!(events(begin.number() + 7).await[0]["type"], "MODIFIED");
}

/// What this process holds in memory, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[cfg(feature = "http2")]
#[tokio::test]
async fn http2_connection_without_responses_to_pings_is_closed() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let admin = socket.client("root", &["system:masters"]);
    let mut stream = socket.connect(Some(admin), &["h2"]).await.unwrap();
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    stream.write_all(&empty_settings).await.unwrap();
    serves_others(&socket).await;
    pause();
    sleep(Duration::from_secs(60)).await;
    resume();
    rest(&mut stream).await;
    socket.close().await;
}
