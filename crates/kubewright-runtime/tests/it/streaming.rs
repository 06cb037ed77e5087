//! Tests of streaming lists.

use std::time::Duration;

use kubewright_runtime::informer::{InformerSpec, Informers};
use kubewright_runtime::reflector::ReflectorOptions;
use kubewright_runtime::store::Store;
use serde_json::json;
use tokio::time::timeout;

use crate::scripted_server::{
    ScriptedServer, TEST_TIMEOUT, bookmark, end_of_state, expired, frame, pod, pods, send,
};

fn streaming(server: &ScriptedServer) -> Informers {
    server.informers_with(ReflectorOptions::default())
}

/// The objects in the store as `name@revision`, in key order.
fn content(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let objects = snapshot.iter();
    objects
        .map(|(key, record)| format!("{}@{}", key.name(), record.resource_version()))
        .collect()
}

const STREAM: &str = "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=";
const LIST: &str = "/api/v1/pods?limit=2&resourceVersion=0";

#[tokio::test(start_paused = true)]
async fn initial_state_is_streamed_by_the_watch_and_visible_when_complete() {
    let server = ScriptedServer::default();
    let stream = server.open(200);
    let informers = streaming(&server);
    let informer = informers.get(&pods());
    send(&stream, frame("ADDED", &pod("a", 3)));
    send(&stream, frame("ADDED", &pod("b", 4)));
    // The state can be older than the requested revision; changes before the bookmark update it.
    send(&stream, frame("MODIFIED", &pod("a", 8)));
    send(&stream, frame("DELETED", &pod("b", 9)));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!informer.is_synced());
    assert!(content(informer.store()).is_empty());
    send(&stream, end_of_state(10) + &frame("ADDED", &pod("c", 11)));
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(content(informer.store()), ["a@8", "c@11"]);
    assert!(server.requests()[0].starts_with(STREAM));
    drop(stream);
    let next = server.open(200);
    send(&next, frame("ADDED", &pod("d", 12)));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(content(informer.store()), ["a@8", "c@11", "d@12"]);
    assert!(server.requests()[1].contains("&resourceVersion=11&"));
    assert_eq!((server.requests().len(), informer.stats().lists), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn server_without_the_end_bookmark_is_listed_from_then_on() {
    let server = ScriptedServer::default();
    let stream = server.open(200);
    send(&stream, frame("ADDED", &pod("a", 3)));
    let informers = streaming(&server);
    let informer = informers.get(&pods());
    server.list(10, &[pod("a", 3), pod("b", 4)]);
    // Changes and other bookmarks are not progress of the initial state.
    for second in 0..9 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        send(&stream, bookmark(20 + second));
        send(&stream, frame("MODIFIED", &pod("a", 30 + second)));
    }
    assert!(!informer.is_synced());
    let synced = timeout(TEST_TIMEOUT, informer.synced()).await;
    synced.expect("a list follows").unwrap();
    assert_eq!(content(informer.store()), ["a@3", "b@4"]);
    let times = server.times();
    let waited = (times[1] - times[0]).as_secs();
    assert!((10..12).contains(&waited), "{waited} s");
    assert_eq!(server.requests()[1], LIST);
    // All informers of the set list from now on, and so does this one after a 410.
    server.respond(410, expired());
    server.list(50, &[]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(server.requests()[3], "/api/v1/pods?limit=2");
    let mut spec = pods();
    spec.namespace = Some("shop".to_owned());
    let _other = informers.get(&spec);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let last = server.requests().pop().unwrap();
    assert_eq!(
        last,
        "/api/v1/namespaces/shop/pods?limit=2&resourceVersion=0"
    );
}

#[tokio::test(start_paused = true)]
async fn slow_initial_state_is_received_while_it_makes_progress() {
    let server = ScriptedServer::default();
    let stream = server.open(200);
    let informers = streaming(&server);
    let informer = informers.get(&pods());
    for number in 0..10 {
        tokio::time::sleep(Duration::from_secs(9)).await;
        send(&stream, frame("ADDED", &pod(&format!("p{number}"), 3)));
    }
    send(&stream, end_of_state(10));
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()).len(), 10);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn server_that_rejects_streaming_lists_is_listed_at_once() {
    let server = ScriptedServer::default();
    let status = json!({"kind": "Status", "code": 422, "reason": "Invalid", "message":
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"});
    server.respond(422, status);
    server.list(10, &[pod("a", 3)]);
    let informers = streaming(&server);
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let times = server.times();
    assert_eq!(times[0], times[1]);
    assert_eq!(server.requests()[1], LIST);
    assert_eq!(informer.stats().failures, 0);
}

#[tokio::test(start_paused = true)]
async fn initial_state_cut_at_any_byte_is_streamed_again_and_not_visible() {
    let state = [
        frame("ADDED", &pod("a", 3)),
        frame("ADDED", &pod("b", 4)),
        end_of_state(10),
    ]
    .concat();
    for cut in 0..state.len() {
        let server = ScriptedServer::default();
        let (head, _) = state.as_bytes().split_at(cut);
        server.respond(200, String::from_utf8(head.to_vec()).unwrap());
        let second = server.open(200);
        let informers = streaming(&server);
        let informer = informers.get(&pods());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(!informer.is_synced(), "cut at {cut}");
        assert!(content(informer.store()).is_empty(), "cut at {cut}");
        send(&second, frame("ADDED", &pod("c", 5)) + &end_of_state(11));
        informer.synced().await.unwrap();
        assert_eq!(content(informer.store()), ["c@5"], "cut at {cut}");
        assert!(server.requests()[1].starts_with(STREAM), "cut at {cut}");
    }
}

#[tokio::test(start_paused = true)]
async fn expired_watch_is_followed_by_a_streamed_state_with_the_missed_changes() {
    let server = ScriptedServer::default();
    let first = frame("ADDED", &pod("a", 3)) + &frame("ADDED", &pod("b", 4)) + &end_of_state(10);
    server.respond(200, first + &frame("ERROR", &expired()));
    server.respond(200, frame("ADDED", &pod("b", 15)) + &end_of_state(20));
    let _open = server.open(200);
    let informers = streaming(&server);
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(content(informer.store()), ["b@15"]);
    assert!(server.requests()[1].starts_with(STREAM));
    assert_eq!(informer.stats().relists(), 1);
}

#[tokio::test(start_paused = true)]
async fn streaming_list_is_retried_after_the_delay_of_a_429() {
    let server = ScriptedServer::default();
    let busy = json!({"kind": "Status", "code": 429, "reason": "TooManyRequests",
        "details": {"retryAfterSeconds": 17}});
    server.respond(429, busy);
    server.respond(200, end_of_state(10));
    let _open = server.open(200);
    let informers = streaming(&server);
    let informer = informers.get(&InformerSpec::all(pods().resource));
    informer.synced().await.unwrap();
    let times = server.times();
    assert!(times[1] - times[0] >= Duration::from_secs(17));
    assert!(server.requests()[1].starts_with(STREAM));
}
