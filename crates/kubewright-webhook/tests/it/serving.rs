//! Reviews, certificates, limits and shutdown of the server over HTTP/1.1.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kubewright_webhook::pki::Authority;
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse, SubjectAccessReviewStatus};
use kubewright_webhook::{
    CertificateFiles, Certificates, Incoming, PipeConnector, Routes, ServeOptions, WebhookServer,
    pipe,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::{connect, post, post_as};

pub(crate) struct TestServer {
    pub(crate) connector: PipeConnector,
    pub(crate) authority: Authority,
    certificates: Certificates,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: JoinSet<()>,
}

#[expect(clippy::panic, reason = "the server must survive it")]
async fn review(request: AdmissionRequest) -> AdmissionResponse {
    match request.name.as_str() {
        "panics" => panic!("on purpose"),
        "slow" => tokio::time::sleep(Duration::from_secs(60)).await,
        _ => {}
    }
    AdmissionResponse::allowed()
}

fn routes() -> Routes {
    Routes::default()
        .admission("/admit", Arc::new(|request, _| Box::pin(review(request))))
        .conversion(
            "/convert",
            Arc::new(|mut object, version| match version {
                "ex.io/v2" => {
                    object["apiVersion"] = json!(version);
                    Ok(object)
                }
                other => Err(format!("no version {other}")),
            }),
        )
        .authorization(
            "/authorize",
            Arc::new(|spec, _| {
                Box::pin(async move {
                    SubjectAccessReviewStatus {
                        allowed: spec.user == "jane",
                        ..SubjectAccessReviewStatus::default()
                    }
                })
            }),
        )
}

async fn start() -> TestServer {
    start_with(ServeOptions {
        body_limit: 100_000,
        ..ServeOptions::default()
    })
    .await
}

pub(crate) async fn start_with(options: ServeOptions) -> TestServer {
    let authority = Authority::new("test").expect("an authority");
    let pair = authority
        .issue_server(&["localhost"])
        .expect("a certificate");
    let certificates = Certificates::new(&pair).expect("certificates");
    let server = WebhookServer::new(routes(), certificates.clone()).options(options);
    let (connector, listener) = pipe();
    let (ready, is_ready) = oneshot::channel();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let until = stop.clone();
    tasks.spawn(async move {
        let served = server.serve(Incoming::Pipe(listener), ready, until);
        served.await.expect("it serves");
    });
    is_ready.await.expect("it is ready");
    TestServer {
        connector,
        authority,
        certificates,
        stop,
        tasks,
    }
}

impl TestServer {
    /// Posts a body, and returns the review of the response.
    async fn send(&self, path: &str, body: impl Into<Bytes>) -> Value {
        let (status, bytes) = post(&self.connector, &self.authority, path, body)
            .await
            .expect("a connection");
        assert_eq!(status, 200);
        serde_json::from_slice(&bytes).expect("a review")
    }

    pub(crate) async fn admit(&self, name: &str) -> Value {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "u", "name": name, "operation": "CREATE"},
        });
        self.send("/admit?timeout=2s", review.to_string()).await["response"].clone()
    }
}

#[tokio::test(start_paused = true)]
async fn response_has_the_uid_of_the_request() {
    let server = start().await;
    assert_eq!(
        server.admit("fine").await,
        json!({"uid": "u", "allowed": true})
    );
}

/// There are more connections than the server's limit; each could be idle for half a minute.
#[tokio::test(start_paused = true)]
async fn idle_connections_do_not_block_other_clients() {
    let server = start().await;
    let begun = Instant::now();
    let mut idle = Vec::new();
    for _ in 0..1153 {
        idle.push(server.connector.connect().await.expect("a connection"));
    }
    assert_eq!(server.admit("fine").await["allowed"], true);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn incomplete_bodies_do_not_block_other_clients() {
    let server = start().await;
    let begun = Instant::now();
    let mut held = Vec::new();
    for _ in 0..1100 {
        let mut stream = connect(&server.connector, &server.authority, &[])
            .await
            .expect("a connection");
        let head = "POST /admit HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    content-length: 1000\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        held.push(stream);
    }
    assert_eq!(server.admit("fine").await["allowed"], true);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn http1_is_negotiated_when_http2_is_off() {
    let server = start().await;
    let offered = ["h2", "http/1.1"];
    let stream = connect(&server.connector, &server.authority, &offered)
        .await
        .expect("a connection");
    let negotiated = stream.get_ref().1.alpn_protocol();
    assert_eq!(negotiated, Some(b"http/1.1".as_slice()));
    let http2_only = connect(&server.connector, &server.authority, &["h2"]).await;
    assert!(http2_only.is_err(), "HTTP/2 is negotiated");
}

#[tokio::test(start_paused = true)]
async fn connection_with_incomplete_headers_is_closed_after_the_timeout() {
    let server = start().await;
    let mut stream = connect(&server.connector, &server.authority, &[])
        .await
        .expect("a connection");
    let head = b"POST /admit HTTP/1.1\r\nhost: loc";
    stream.write_all(head).await.expect("it is sent");
    let since = Instant::now();
    // The server may close the connection without a TLS close_notify.
    stream.read_to_end(&mut Vec::new()).await.ok();
    assert_eq!(since.elapsed().as_secs(), 32);
}

#[tokio::test(start_paused = true)]
async fn panic_and_timeout_of_a_handler_are_errors_in_the_review() {
    let server = start().await;
    for (name, message) in [
        (
            "panics",
            "Internal error occurred: the webhook's function panicked",
        ),
        (
            "slow",
            "Internal error occurred: the webhook's function did not finish in time",
        ),
    ] {
        let response = server.admit(name).await;
        assert_eq!(response["uid"], "u");
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 500);
        assert_eq!(response["status"]["message"], message);
    }
    assert_eq!(server.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn invalid_body_gets_a_review_with_the_error() {
    let server = start().await;
    for (body, code) in [
        (Bytes::new(), 400),
        (Bytes::from_static(b"{\"request\": {\"uid\": "), 400),
        (Bytes::from_static(b"{}"), 400),
        (Bytes::from_static(b"[]"), 400),
        (Bytes::from(vec![b' '; 200_000]), 413),
    ] {
        let review = server.send("/admit", body).await;
        assert_eq!(review["response"]["status"]["code"], code, "{review}");
    }
    let (_, bytes) = post_as(
        &server.connector,
        &server.authority,
        "/admit",
        "text/plain",
        "{}",
    )
    .await
    .expect("a connection");
    let review: Value = serde_json::from_slice(&bytes).expect("a review");
    assert_eq!(
        review["response"]["status"]["message"],
        "contentType=text/plain, expected application/json"
    );
    let nowhere = post(&server.connector, &server.authority, "/nowhere", "{}");
    assert_eq!(nowhere.await.expect("a connection").0, 404);
}

#[tokio::test(start_paused = true)]
async fn review_of_another_kind_or_version_fails_with_the_expected_type() {
    let server = start().await;
    let review = |version: &str, kind: &str| {
        let request = json!({"uid": "u", "operation": "CREATE", "desiredAPIVersion": "ex.io/v2"});
        json!({"apiVersion": version, "kind": kind, "request": request}).to_string()
    };
    let other_version = server.send("/admit", review("admission.k8s.io/v2", "AdmissionReview"));
    assert_eq!(
        other_version.await["response"]["status"]["message"],
        "read the review: expected admission.k8s.io/v1, Kind=AdmissionReview, got \
         admission.k8s.io/v2, Kind=AdmissionReview"
    );
    let not_admission = server.send(
        "/admit",
        review("apiextensions.k8s.io/v1", "ConversionReview"),
    );
    assert_eq!(not_admission.await["response"]["status"]["code"], 400);
    let not_conversion = server.send("/convert", review("admission.k8s.io/v1", "AdmissionReview"));
    assert_eq!(
        not_conversion.await["response"]["result"]["message"],
        "read the review: expected apiextensions.k8s.io/v1, Kind=ConversionReview, got \
         admission.k8s.io/v1, Kind=AdmissionReview"
    );
    let self_review = review("authorization.k8s.io/v1", "SelfSubjectAccessReview");
    let not_authorization = post(
        &server.connector,
        &server.authority,
        "/authorize",
        self_review,
    );
    assert_eq!(not_authorization.await.expect("a connection").0, 400);
    let beta = server
        .send(
            "/admit",
            review("admission.k8s.io/v1beta1", "AdmissionReview"),
        )
        .await;
    assert_eq!(beta["apiVersion"], "admission.k8s.io/v1beta1");
    assert_eq!(beta["response"]["allowed"], true);
    assert_eq!(server.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn conversion_and_authorization_reviews_are_handled() {
    let server = start().await;
    let convert = |version: &str| {
        json!({"request": {"uid": "u", "desiredAPIVersion": version,
            "objects": [{"apiVersion": "ex.io/v1", "kind": "Site"}]}})
    };
    let converted = server
        .send("/convert", convert("ex.io/v2").to_string())
        .await;
    assert_eq!(converted["response"]["result"]["status"], "Success");
    assert_eq!(
        converted["response"]["convertedObjects"],
        json!([{"apiVersion": "ex.io/v2", "kind": "Site"}])
    );
    let failed = server
        .send("/convert", convert("ex.io/v3").to_string())
        .await;
    assert_eq!(failed["response"]["result"]["status"], "Failure");
    assert_eq!(
        failed["response"]["result"]["message"],
        "no version ex.io/v3"
    );
    for (user, allowed) in [("jane", true), ("joe", false)] {
        let review = server.send("/authorize", json!({"spec": {"user": user}}).to_string());
        assert_eq!(review.await["status"]["allowed"], allowed);
    }
}

#[tokio::test(start_paused = true)]
async fn replaced_certificate_is_used_for_the_next_connection() {
    let mut server = start().await;
    let next = Authority::new("next").expect("an authority");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |authority: &Authority| {
        let pair = authority
            .issue_server(&["localhost"])
            .expect("a certificate");
        for (name, text) in [("tls.crt", pair.certificate_pem), ("tls.key", pair.key_pem)] {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
    };
    write(&server.authority);
    let (certificates, stop) = (server.certificates.clone(), server.stop.clone());
    let files = CertificateFiles::in_folder(folder.path());
    server
        .tasks
        .spawn(async move { files.follow(certificates, stop).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    write(&next);
    assert_eq!(server.admit("fine").await["allowed"], true);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let old = post(&server.connector, &server.authority, "/admit", "{}").await;
    assert!(old.is_err(), "the old certificate is still used");
    let new = post(&server.connector, &next, "/admit", "{}").await;
    assert!(new.is_ok());
}

/// A client with an open connection may send a request at the moment of the stop.
#[tokio::test(start_paused = true)]
async fn stopping_server_handles_a_request_and_closes_its_connection() {
    let mut server = start().await;
    let mut stream = connect(&server.connector, &server.authority, &[])
        .await
        .expect("a connection");
    let body = json!({"request": {"uid": "u"}}).to_string();
    let request = format!(
        "POST /admit HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut response = vec![0; 4096];
    stream.write_all(request.as_bytes()).await.expect("sent");
    let read = stream.read(&mut response).await.expect("a response");
    let first = String::from_utf8_lossy(&response[..read]).into_owned();
    assert!(!first.contains("connection: close"), "{first}");

    server.stop.cancel();
    tokio::task::yield_now().await;
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut last = String::new();
    // The server may close the connection without a TLS close_notify.
    stream.read_to_string(&mut last).await.ok();
    assert!(last.starts_with("HTTP/1.1 200 OK"), "{last}");
    assert!(last.contains("connection: close"), "{last}");
    server
        .tasks
        .join_next()
        .await
        .expect("a task")
        .expect("it ended well");
}

#[tokio::test(start_paused = true)]
async fn requests_in_flight_complete_before_the_server_stops() {
    let mut server = start().await;
    let routes = Routes::default().admission(
        "/admit",
        Arc::new(|_, _| {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(3)).await;
                AdmissionResponse::allowed()
            })
        }),
    );
    let slow_server = WebhookServer::new(routes, server.certificates.clone());
    let (connector, listener) = pipe();
    let (ready, is_ready) = oneshot::channel();
    let stop = CancellationToken::new();
    let until = stop.clone();
    server.tasks.spawn(async move {
        let served = slow_server.serve(Incoming::Pipe(listener), ready, until);
        served.await.expect("it serves");
    });
    is_ready.await.expect("it is ready");
    let body = json!({"request": {"uid": "u"}}).to_string();
    let exchange = post(&connector, &server.authority, "/admit", body);
    let stopped = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let (response, ()) = futures_util::future::join(exchange, stopped).await;
    assert_eq!(response.expect("a connection").0, 200);
    server.stop.cancel();
    while let Some(ended) = server.tasks.join_next().await {
        ended.expect("it ended well");
    }
    assert!(connector.connect().await.is_err());
}
