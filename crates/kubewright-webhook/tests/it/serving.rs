use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kubewright_webhook::review::{AdmissionRequest, AdmissionResponse, SubjectAccessReviewStatus};
use kubewright_webhook::{
    CertificateFiles, Certificates, Incoming, LocalAuthority, PipeConnector, Routes, ServeOptions,
    WebhookServer, pipe,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::{connect, post};

pub(crate) struct World {
    pub(crate) connector: PipeConnector,
    pub(crate) authority: LocalAuthority,
    certificates: Certificates,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: JoinSet<()>,
}

#[expect(clippy::panic, reason = "what the server must survive")]
async fn answer(request: AdmissionRequest) -> AdmissionResponse {
    match request.name.as_str() {
        "panics" => panic!("on purpose"),
        "slow" => tokio::time::sleep(Duration::from_secs(60)).await,
        _ => {}
    }
    AdmissionResponse::allowed()
}

fn routes() -> Routes {
    Routes::default()
        .admission("/admit", Arc::new(|request, _| Box::pin(answer(request))))
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

async fn world() -> World {
    world_with(ServeOptions {
        body_limit: 100_000,
        ..ServeOptions::default()
    })
    .await
}

pub(crate) async fn world_with(options: ServeOptions) -> World {
    let authority = LocalAuthority::new("test").expect("an authority");
    let pair = authority.issue(&["localhost"]).expect("a certificate");
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
    World {
        connector,
        authority,
        certificates,
        stop,
        tasks,
    }
}

impl World {
    async fn ask(&self, path: &str, body: impl Into<Bytes>) -> Value {
        let body = ("application/json", body);
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
        self.ask("/admit?timeout=2s", review.to_string()).await["response"].clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_with_its_own_uid() {
    let world = world().await;
    assert_eq!(
        world.admit("fine").await,
        json!({"uid": "u", "allowed": true})
    );
}

/// More connections than the server has in all; each could wait for half a minute.
#[tokio::test(start_paused = true)]
async fn silent_connections_lock_nobody_out() {
    let world = world().await;
    let begun = Instant::now();
    let mut silent = Vec::new();
    for _ in 0..1153 {
        silent.push(world.connector.connect().await.expect("a connection"));
    }
    assert_eq!(world.admit("fine").await["allowed"], true);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// Requests whose bodies never end hold no place either.
#[tokio::test(start_paused = true)]
async fn half_reviews_lock_nobody_out() {
    let world = world().await;
    let begun = Instant::now();
    let mut held = Vec::new();
    for _ in 0..1100 {
        let stream = connect(&world.connector, &world.authority, &[]).await;
        let mut stream = stream.expect("a connection");
        let head = "POST /admit HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    content-length: 1000\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        held.push(stream);
    }
    assert_eq!(world.admit("fine").await["allowed"], true);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn http1_is_chosen_for_who_would_rather_speak_http2() {
    let world = world().await;
    let offered = ["h2", "http/1.1"];
    let stream = connect(&world.connector, &world.authority, &offered).await;
    let stream = stream.expect("a connection");
    let chosen = stream.get_ref().1.alpn_protocol();
    assert_eq!(chosen, Some(b"http/1.1".as_slice()));
    let alone = connect(&world.connector, &world.authority, &["h2"]).await;
    assert!(alone.is_err(), "HTTP/2 is spoken");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_finish_its_headers_is_sent_away() {
    let world = world().await;
    let stream = connect(&world.connector, &world.authority, &[]).await;
    let mut stream = stream.expect("a connection");
    let head = b"POST /admit HTTP/1.1\r\nhost: loc";
    stream.write_all(head).await.expect("half a head");
    let since = Instant::now();
    // Whether it says farewell does not matter.
    stream.read_to_end(&mut Vec::new()).await.ok();
    assert_eq!(since.elapsed().as_secs(), 32);
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_a_late_answer_are_told_in_a_review_and_the_server_goes_on() {
    let world = world().await;
    for (name, why) in [
        (
            "panics",
            "Internal error occurred: the webhook's function panicked",
        ),
        (
            "slow",
            "Internal error occurred: the webhook's function did not finish in time",
        ),
    ] {
        let response = world.admit(name).await;
        assert_eq!(response["uid"], "u");
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 500);
        assert_eq!(response["status"]["message"], why);
    }
    assert_eq!(world.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_review_is_told_in_one() {
    let world = world().await;
    for (body, code) in [
        (Bytes::new(), 400),
        (Bytes::from_static(b"{\"request\": {\"uid\": "), 400),
        (Bytes::from_static(b"{}"), 400),
        (Bytes::from_static(b"[]"), 400),
        (Bytes::from(vec![b' '; 200_000]), 413),
    ] {
        let review = world.ask("/admit", body).await;
        assert_eq!(review["response"]["status"]["code"], code, "{review}");
    }
    let (_, bytes) = post(
        &world.connector,
        &world.authority,
        "/admit",
        ("text/plain", "{}"),
    )
    .await
    .expect("a connection");
    let review: Value = serde_json::from_slice(&bytes).expect("a review");
    assert_eq!(
        review["response"]["status"]["message"],
        "contentType=text/plain, expected application/json"
    );
    let nowhere = post(
        &world.connector,
        &world.authority,
        "/nowhere",
        ("application/json", "{}"),
    );
    assert_eq!(nowhere.await.expect("a connection").0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_review_of_another_kind_or_version_is_told_what_was_expected() {
    let world = world().await;
    let review = |version: &str, kind: &str| {
        let request = json!({"uid": "u", "operation": "CREATE", "desiredAPIVersion": "ex.io/v2"});
        json!({"apiVersion": version, "kind": kind, "request": request}).to_string()
    };
    let told = world.ask("/admit", review("admission.k8s.io/v2", "AdmissionReview"));
    assert_eq!(
        told.await["response"]["status"]["message"],
        "read the review: expected admission.k8s.io/v1, Kind=AdmissionReview, got \
         admission.k8s.io/v2, Kind=AdmissionReview"
    );
    let told = world.ask(
        "/admit",
        review("apiextensions.k8s.io/v1", "ConversionReview"),
    );
    assert_eq!(told.await["response"]["status"]["code"], 400);
    let told = world.ask("/convert", review("admission.k8s.io/v1", "AdmissionReview"));
    assert_eq!(
        told.await["response"]["result"]["message"],
        "read the review: expected apiextensions.k8s.io/v1, Kind=ConversionReview, got \
         admission.k8s.io/v1, Kind=AdmissionReview"
    );
    let other = review("authorization.k8s.io/v1", "SelfSubjectAccessReview");
    let body = ("application/json", other);
    let told = post(&world.connector, &world.authority, "/authorize", body).await;
    assert_eq!(told.expect("a connection").0, 400);
    let told = world.ask(
        "/admit",
        review("admission.k8s.io/v1beta1", "AdmissionReview"),
    );
    let told = told.await;
    assert_eq!(told["apiVersion"], "admission.k8s.io/v1beta1");
    assert_eq!(told["response"]["allowed"], true);
    assert_eq!(world.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn conversion_and_authorization_are_answered_too() {
    let world = world().await;
    let convert = |version: &str| {
        json!({"request": {"uid": "u", "desiredAPIVersion": version,
            "objects": [{"apiVersion": "ex.io/v1", "kind": "Site"}]}})
    };
    let review = world.ask("/convert", convert("ex.io/v2").to_string()).await;
    assert_eq!(review["response"]["result"]["status"], "Success");
    assert_eq!(
        review["response"]["convertedObjects"],
        json!([{"apiVersion": "ex.io/v2", "kind": "Site"}])
    );
    let review = world.ask("/convert", convert("ex.io/v3").to_string()).await;
    assert_eq!(review["response"]["result"]["status"], "Failure");
    assert_eq!(
        review["response"]["result"]["message"],
        "no version ex.io/v3"
    );
    for (user, allowed) in [("jane", true), ("joe", false)] {
        let review = world.ask("/authorize", json!({"spec": {"user": user}}).to_string());
        assert_eq!(review.await["status"]["allowed"], allowed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_is_replaced_is_shown_to_the_next_connection() {
    let mut world = world().await;
    let next = LocalAuthority::new("next").expect("an authority");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |authority: &LocalAuthority| {
        let pair = authority.issue(&["localhost"]).expect("a certificate");
        for (name, text) in [("tls.crt", pair.certificate_pem), ("tls.key", pair.key_pem)] {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
    };
    write(&world.authority);
    let (certificates, stop) = (world.certificates.clone(), world.stop.clone());
    let files = CertificateFiles::in_folder(folder.path());
    world
        .tasks
        .spawn(async move { files.follow(certificates, stop).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    write(&next);
    assert_eq!(world.admit("fine").await["allowed"], true);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let body = ("application/json", "{}");
    let refused = post(&world.connector, &world.authority, "/admit", body).await;
    assert!(refused.is_err(), "the old authority is still shown");
    let taken = post(&world.connector, &next, "/admit", body).await;
    assert!(taken.is_ok());
}

/// A client that keeps its connection may be asking at the very moment.
#[tokio::test(start_paused = true)]
async fn a_server_that_stops_answers_a_question_on_its_way_and_says_it_is_the_last() {
    let mut world = world().await;
    let stream = connect(&world.connector, &world.authority, &[]).await;
    let mut stream = stream.expect("a connection");
    let body = json!({"request": {"uid": "u"}}).to_string();
    let question = format!(
        "POST /admit HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = vec![0; 4096];
    stream.write_all(question.as_bytes()).await.expect("sent");
    let read = stream.read(&mut answer).await.expect("an answer");
    let first = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(!first.contains("connection: close"), "{first}");

    world.stop.cancel();
    tokio::task::yield_now().await;
    stream.write_all(question.as_bytes()).await.expect("sent");
    let mut last = String::new();
    // Whether it says farewell does not matter.
    stream.read_to_string(&mut last).await.ok();
    assert!(last.starts_with("HTTP/1.1 200 OK"), "{last}");
    assert!(last.contains("connection: close"), "{last}");
    world
        .tasks
        .join_next()
        .await
        .expect("a task")
        .expect("it ended well");
}

#[tokio::test(start_paused = true)]
async fn questions_under_way_are_answered_before_the_server_ends() {
    let mut world = world().await;
    let routes = Routes::default().admission(
        "/admit",
        Arc::new(|_, _| {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(3)).await;
                AdmissionResponse::allowed()
            })
        }),
    );
    let server = WebhookServer::new(routes, world.certificates.clone());
    let (connector, listener) = pipe();
    let (ready, is_ready) = oneshot::channel();
    let stop = CancellationToken::new();
    let until = stop.clone();
    world.tasks.spawn(async move {
        let served = server.serve(Incoming::Pipe(listener), ready, until);
        served.await.expect("it serves");
    });
    is_ready.await.expect("it is ready");
    let body = json!({"request": {"uid": "u"}}).to_string();
    let asked = post(
        &connector,
        &world.authority,
        "/admit",
        ("application/json", body),
    );
    let stopped = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let (answered, ()) = futures_util::future::join(asked, stopped).await;
    assert_eq!(answered.expect("a connection").0, 200);
    world.stop.cancel();
    while let Some(ended) = world.tasks.join_next().await {
        ended.expect("it ended well");
    }
    assert!(connector.connect().await.is_err());
}
