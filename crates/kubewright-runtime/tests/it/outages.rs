//! Tests of the reflector while the API server returns errors.

use std::time::Duration;

use kubewright_runtime::informer::{Informer, Informers, Notification, Subscription};
use serde_json::{Value, json};

use crate::scripted_server::{ScriptedServer, frame, next_notification, pod, pods, send};

/// A status as kube-apiserver returns it while it starts or while etcd fails.
fn failure(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "out of order", "reason": reason, "code": code})
}

/// An informer that is synced with one Pod.
async fn synced(server: &ScriptedServer) -> (Informers, Informer) {
    server.list(10, &[pod("a", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.expect("the list succeeds");
    (informers, informer)
}

/// Waits for a change of the object with this name.
async fn wait_for(changes: &mut Subscription, name: &str) {
    loop {
        if matches!(next_notification(changes).await, Notification::Change(event) if event.key.name() == name)
        {
            return;
        }
    }
}

/// How the server returns the error of a watch.
#[derive(Clone, Copy, Debug)]
enum ErrorKind {
    Response,
    Event,
}

/// Runs a watch that fails three times. Returns the requests, and the time until it succeeds.
async fn fail_three_times(
    error_kind: ErrorKind,
    code: u16,
    reason: &str,
) -> (Vec<String>, Duration) {
    let server = ScriptedServer::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    let start = tokio::time::Instant::now();
    for number in 0..3_u64 {
        match error_kind {
            ErrorKind::Response => server.respond(code, failure(code, reason)),
            ErrorKind::Event => {
                let revision = 11 + number;
                let event = frame("MODIFIED", &pod("a", revision));
                server.respond(200, event + &frame("ERROR", &failure(code, reason)));
            }
        }
    }
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("z", 20)));
    wait_for(&mut changes, "z").await;
    assert_eq!(informer.store().snapshot().iter().count(), 2);
    assert_eq!(informer.stats().relists(), 0, "{error_kind:?} {code}");
    (server.requests(), start.elapsed())
}

fn revision_of(request: &str) -> &str {
    let (_, rest) = request.split_once("resourceVersion=").expect("a revision");
    rest.split('&').next().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn watch_with_a_503_or_500_response_is_retried_without_a_list() {
    for (code, reason) in [(503, "ServiceUnavailable"), (500, "InternalError")] {
        let (requests, time) = fail_three_times(ErrorKind::Response, code, reason).await;
        let revisions: Vec<_> = requests[1..]
            .iter()
            .map(|request| revision_of(request))
            .collect();
        assert_eq!(revisions, ["10"; 4], "{code}");
        // The backoff is 0.8 s, 1.6 s and 3.2 s, each with a jitter of up to 100 %.
        assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn watch_with_a_503_or_500_event_resumes_at_its_last_revision() {
    for (code, reason) in [(503, "ServiceUnavailable"), (500, "InternalError")] {
        let (requests, time) = fail_three_times(ErrorKind::Event, code, reason).await;
        let revisions: Vec<_> = requests[1..]
            .iter()
            .map(|request| revision_of(request))
            .collect();
        assert_eq!(revisions, ["10", "11", "12", "13"], "{code}");
        assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn watch_resumes_after_a_restart_of_the_api_server() {
    let server = ScriptedServer::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 11)));
    wait_for(&mut changes, "b").await;
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    watch.try_send(Err(reset)).expect("room in the body");
    for _ in 0..2 {
        server.respond(503, "no endpoints available");
    }
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("c", 12)));
    wait_for(&mut changes, "c").await;
    let requests = server.requests();
    let revisions: Vec<_> = requests[2..]
        .iter()
        .map(|request| revision_of(request))
        .collect();
    assert_eq!(revisions, ["11"; 3]);
    assert_eq!(informer.stats().relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn list_follows_at_once_when_a_restarted_api_server_returns_410() {
    let server = ScriptedServer::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    for _ in 0..3 {
        server.respond(503, "no endpoints available");
    }
    let start = tokio::time::Instant::now();
    server.respond(410, failure(410, "Expired"));
    server.list(20, &[pod("a", 3), pod("z", 15)]);
    wait_for(&mut changes, "z").await;
    // The backoff of the three errors; the list after the 410 has no delay.
    let time = start.elapsed();
    assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    assert_eq!(informer.stats().relists(), 1);
}
