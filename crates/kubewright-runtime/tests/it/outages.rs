//! An API server that is out of order for a while, and says so.

use std::time::Duration;

use kubewright_runtime::informer::{Informer, Informers, Notification, Subscription};
use serde_json::{Value, json};

use crate::scripted::{Scripted, frame, next_notice, pod, pods, send};

/// What kube-apiserver says while it starts, and etcd's trouble in its words.
fn failure(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "out of order", "reason": reason, "code": code})
}

/// An informer that has read the first list of the server, in which there is one Pod.
async fn synced(server: &Scripted) -> (Informers, Informer) {
    server.list(10, &[pod("a", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.expect("the list is there");
    (informers, informer)
}

/// Waits until an object of that name is told.
async fn told(changes: &mut Subscription, name: &str) {
    loop {
        if matches!(next_notice(changes).await, Notification::Change(event) if event.key.name() == name)
        {
            return;
        }
    }
}

/// Where in the life of a watch the failure is told.
#[derive(Clone, Copy, Debug)]
enum Place {
    Open,
    Stream,
}

/// Follows a watch that fails three times and then goes on; what was asked, and how long it took.
async fn survived(place: Place, code: u16, reason: &str) -> (Vec<String>, Duration) {
    let server = Scripted::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    let start = tokio::time::Instant::now();
    for number in 0..3_u64 {
        match place {
            Place::Open => server.answer(code, failure(code, reason)),
            Place::Stream => {
                let revision = 11 + number;
                let told = frame("MODIFIED", &pod("a", revision));
                server.answer(200, told + &frame("ERROR", &failure(code, reason)));
            }
        }
    }
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("z", 20)));
    told(&mut changes, "z").await;
    assert_eq!(informer.store().snapshot().iter().count(), 2);
    assert_eq!(informer.stats().relists(), 0, "{place:?} {code}");
    (server.requests(), start.elapsed())
}

fn revision_of(request: &str) -> &str {
    let (_, rest) = request.split_once("resourceVersion=").expect("a revision");
    rest.split('&').next().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_503_or_500_at_the_opening_of_a_watch_is_waited_out_without_a_list() {
    for (code, reason) in [(503, "ServiceUnavailable"), (500, "InternalError")] {
        let (requests, time) = survived(Place::Open, code, reason).await;
        let revisions: Vec<_> = requests[1..].iter().map(|one| revision_of(one)).collect();
        assert_eq!(revisions, ["10"; 4], "{code}");
        // 0.8 s, 1.6 s and 3.2 s, each up to twice as long.
        assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_503_or_500_within_a_watch_is_waited_out_and_goes_on_where_it_stopped() {
    for (code, reason) in [(503, "ServiceUnavailable"), (500, "InternalError")] {
        let (requests, time) = survived(Place::Stream, code, reason).await;
        let revisions: Vec<_> = requests[1..].iter().map(|one| revision_of(one)).collect();
        assert_eq!(revisions, ["10", "11", "12", "13"], "{code}");
        assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    }
}

/// As when an API server restarts: nobody takes the call, then all is as before.
#[tokio::test(start_paused = true)]
async fn an_api_server_restart_ends_watches_that_go_on_where_they_stopped() {
    let server = Scripted::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 11)));
    told(&mut changes, "b").await;
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    watch.try_send(Err(reset)).expect("room in the body");
    for _ in 0..2 {
        server.answer(503, "no endpoints available");
    }
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("c", 12)));
    told(&mut changes, "c").await;
    let requests = server.requests();
    let revisions: Vec<_> = requests[2..].iter().map(|one| revision_of(one)).collect();
    assert_eq!(revisions, ["11"; 3]);
    assert_eq!(informer.stats().relists(), 0);
}

/// As when its history is gone with it: the state is asked for as soon as that is known.
#[tokio::test(start_paused = true)]
async fn an_api_server_that_forgot_the_revision_while_it_restarted_is_asked_for_the_state_at_once()
{
    let server = Scripted::default();
    let (_informers, informer) = synced(&server).await;
    let mut changes = informer.subscribe();
    for _ in 0..3 {
        server.answer(503, "no endpoints available");
    }
    let start = tokio::time::Instant::now();
    server.answer(410, failure(410, "Expired"));
    server.list(20, &[pod("a", 3), pod("z", 15)]);
    told(&mut changes, "z").await;
    // Three times the server did not answer: 0.8 s, 1.6 s and 3.2 s, each up to twice as long.
    let time = start.elapsed();
    assert!((5_600..=11_300).contains(&time.as_millis()), "{time:?}");
    assert_eq!(informer.stats().relists(), 1);
}
