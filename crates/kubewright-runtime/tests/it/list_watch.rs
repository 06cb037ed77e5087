//! Tests of list, watch, relist and retry.

use std::time::Duration;

use bytes::Bytes;
use kubewright_runtime::informer::{Informer, Informers, Notification, Subscription};
use kubewright_runtime::store::Store;
use serde_json::{Value, json};

use crate::scripted_server::{
    FATAL, ScriptedServer, bookmark, expired, frame, key, next_notification, pod, pod_with_uid,
    pods, send,
};

/// The objects in the store as `name@revision`, in key order.
fn content(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let objects = snapshot.iter();
    objects
        .map(|(key, record)| format!("{}@{}", key.name(), record.resource_version()))
        .collect()
}

/// The next change as `name old>new` with revisions; `-` is a missing version.
async fn change(subscription: &mut Subscription) -> String {
    loop {
        match next_notification(subscription).await {
            Notification::Change(event) => {
                let version = |record: Option<&kubewright_runtime::record::Record>| {
                    record.map_or("-".to_owned(), |record| {
                        record.resource_version().to_owned()
                    })
                };
                let (old, new) = (version(event.old.as_ref()), version(event.new.as_ref()));
                return format!("{} {old}>{new}", event.key.name());
            }
            _ => continue,
        }
    }
}

/// A synced informer with these objects, and a subscription after its initial state.
async fn synced(server: &ScriptedServer, objects: &[Value]) -> (Informer, Subscription, Informers) {
    server.list(10, objects);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.expect("the list succeeds");
    let mut subscription = informer.subscribe();
    while !matches!(
        next_notification(&mut subscription).await,
        Notification::Synced
    ) {}
    (informer, subscription, informers)
}

#[tokio::test(start_paused = true)]
async fn list_is_followed_by_a_watch_from_its_revision() {
    let server = ScriptedServer::default();
    let (informer, mut changes, _informers) = synced(&server, &[pod("a", 3)]).await;
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 11)));
    assert_eq!(change(&mut changes).await, "b ->11");
    send(
        &watch,
        frame("MODIFIED", &pod("a", 12)) + &frame("DELETED", &pod("b", 13)),
    );
    assert_eq!(change(&mut changes).await, "a 3>12");
    assert_eq!(change(&mut changes).await, "b 11>-");
    assert_eq!(content(informer.store()), ["a@12"]);
    let requests = server.requests();
    assert_eq!(requests[0], "/api/v1/pods?limit=2&resourceVersion=0");
    let watched =
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=";
    assert!(requests[1].starts_with(watched), "{}", requests[1]);
    let seconds: u64 = requests[1].strip_prefix(watched).unwrap().parse().unwrap();
    assert!((300..600).contains(&seconds));
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_are_read() {
    let server = ScriptedServer::default();
    server.page(10, &[pod("a", 1), pod("b", 2)], "next/1");
    server.page(10, &[pod("c", 3)], "");
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["a@1", "b@2", "c@3"]);
    assert_eq!(
        server.requests()[1],
        "/api/v1/pods?limit=2&continue=next%2F1"
    );
}

#[tokio::test(start_paused = true)]
async fn expired_page_restarts_the_list_without_pages() {
    let server = ScriptedServer::default();
    server.page(10, &[pod("a", 1), pod("b", 2)], "next");
    server.respond(410, expired());
    server.list(12, &[pod("b", 2), pod("c", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["b@2", "c@3"]);
    assert_eq!(server.requests()[2], "/api/v1/pods");
}

#[tokio::test(start_paused = true)]
async fn watch_cut_at_any_byte_resumes_without_a_list() {
    let frames = [
        frame("ADDED", &pod("b", 11)),
        bookmark(12),
        frame("MODIFIED", &pod("a", 13)),
        frame("DELETED", &pod("b", 14)),
    ];
    let ends: Vec<usize> = frames
        .iter()
        .scan(0, |end, frame| {
            *end += frame.len();
            Some(*end)
        })
        .collect();
    let stream = frames.concat();
    for cut in 0..=stream.len() {
        let server = ScriptedServer::default();
        let (informer, mut changes, _informers) = synced(&server, &[pod("a", 3)]).await;
        let watch = server.open(200);
        let (head, _) = stream.as_bytes().split_at(cut);
        watch.try_send(Ok(Bytes::copy_from_slice(head))).unwrap();
        drop(watch);
        // A server sends the events after the requested revision.
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let revision = [10, 11, 12, 13, 14][whole];
        let second = server.open(200);
        send(
            &second,
            frames[whole..].concat() + &frame("ADDED", &pod("z", 20)),
        );
        while change(&mut changes).await != "z ->20" {}
        assert_eq!(content(informer.store()), ["a@13", "z@20"], "cut at {cut}");
        let parameter = format!("&resourceVersion={revision}&");
        assert!(server.requests()[2].contains(&parameter), "cut at {cut}");
        assert_eq!(informer.stats().relists(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn watch_is_reopened_after_410_with_one_fresh_list() {
    for in_stream in [true, false] {
        let server = ScriptedServer::default();
        let (informer, mut changes, _informers) =
            synced(&server, &[pod("a", 3), pod("b", 4)]).await;
        if in_stream {
            server.respond(200, frame("ERROR", &expired()));
        } else {
            server.respond(410, expired());
        }
        server.list(20, &[pod("b", 15), pod("c", 16)]);
        // Deletions that the watch missed are delivered first.
        assert_eq!(change(&mut changes).await, "a 3>-");
        assert_eq!(change(&mut changes).await, "b 4>15");
        assert_eq!(change(&mut changes).await, "c ->16");
        let watch = server.open(200);
        send(&watch, frame("ADDED", &pod("d", 21)));
        assert_eq!(change(&mut changes).await, "d ->21");
        assert_eq!(content(informer.store()), ["b@15", "c@16", "d@21"]);
        let requests = server.requests();
        assert_eq!(requests[2], "/api/v1/pods?limit=2");
        assert!(requests[3].contains("resourceVersion=20&"));
        assert_eq!(informer.stats().relists(), 1);
        assert!(informer.last_error().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn replaced_object_is_reported_as_deleted_and_created() {
    let server = ScriptedServer::default();
    let (_informer, mut changes, _informers) = synced(&server, &[pod("a", 3)]).await;
    server.respond(410, expired());
    server.list(20, &[pod_with_uid("a", "another", 15)]);
    assert_eq!(change(&mut changes).await, "a 3>-");
    assert_eq!(change(&mut changes).await, "a ->15");
}

#[tokio::test(start_paused = true)]
async fn unchanged_object_of_a_relist_causes_no_event_and_keeps_its_record() {
    let server = ScriptedServer::default();
    let (informer, mut changes, _informers) = synced(&server, &[pod("a", 3), pod("b", 4)]).await;
    let before = informer.store().get(&key("a")).unwrap();
    server.respond(410, expired());
    server.list(20, &[pod("a", 3), pod("b", 15)]);
    assert_eq!(change(&mut changes).await, "b 4>15");
    assert!(informer.store().get(&key("a")).unwrap().is_same(&before));
}

#[tokio::test(start_paused = true)]
async fn failing_lists_are_retried_with_growing_delays_and_report_the_error() {
    let server = ScriptedServer::default();
    for _ in 0..8 {
        server.respond(500, "out of order");
    }
    server.list(10, &[]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!informer.is_synced());
    let error = informer.last_error().expect("the list has failed");
    assert_eq!(
        error.to_string(),
        "list pods: the API server returned an error"
    );
    assert_eq!(error.status().unwrap().code, 500);
    informer.synced().await.unwrap();
    let times = server.times();
    let waits: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    for (wait, minimum) in waits
        .iter()
        .zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0])
    {
        assert!(
            (minimum..=minimum * 2.0 + 0.01).contains(wait),
            "{wait} for {minimum}"
        );
    }
    assert_eq!(informer.stats().failures, 8);
    assert!(informer.last_error().is_none());
}

#[tokio::test(start_paused = true)]
async fn watch_is_retried_after_the_delay_of_a_429_without_a_list() {
    let server = ScriptedServer::default();
    let (informer, mut changes, _informers) = synced(&server, &[]).await;
    let busy = json!({"kind": "Status", "code": 429, "reason": "TooManyRequests",
        "details": {"retryAfterSeconds": 17}});
    server.respond(429, busy);
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 11)));
    assert_eq!(change(&mut changes).await, "b ->11");
    let times = server.times();
    assert!(times[2] - times[1] >= Duration::from_secs(17));
    assert_eq!(informer.stats().relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn silent_watch_is_closed_when_two_bookmarks_are_missing() {
    let server = ScriptedServer::default();
    let (informer, mut changes, _informers) = synced(&server, &[]).await;
    let silent = server.open(200);
    send(&silent, bookmark(11));
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 12)));
    assert_eq!(change(&mut changes).await, "b ->12");
    let times = server.times();
    let silence = (times[2] - times[1]).as_secs();
    assert!((150..152).contains(&silence), "{silence} s");
    assert!(server.requests()[2].contains("&resourceVersion=11&"));
    assert_eq!(informer.stats().relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn watch_with_bookmarks_only_is_not_closed_early() {
    let server = ScriptedServer::default();
    let (_informer, _changes, _informers) = synced(&server, &[]).await;
    let watch = server.open(200);
    for revision in 11..15 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        send(&watch, bookmark(revision));
    }
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_reopened_with_a_backoff() {
    let server = ScriptedServer::default();
    let (_informer, _changes, _informers) = synced(&server, &[]).await;
    for _ in 0..1000 {
        server.respond(200, "");
    }
    tokio::time::sleep(Duration::from_secs(300)).await;
    let requests = server.requests().len();
    assert!((8..25).contains(&requests), "{requests} requests");
}

#[tokio::test(start_paused = true)]
async fn list_is_fresh_after_resource_version_too_large() {
    let server = ScriptedServer::default();
    let ahead = json!({"kind": "Status", "code": 504, "reason": "Timeout",
        "details": {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}});
    server.respond(504, ahead);
    server.list(10, &[pod("a", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(server.requests()[1], "/api/v1/pods?limit=2");
}

#[tokio::test(start_paused = true)]
async fn selectors_and_namespace_are_sent_to_the_server() {
    let server = ScriptedServer::default();
    server.list(10, &[]);
    let mut spec = pods();
    spec.namespace = Some("shop".to_owned());
    spec.labels = "app in (a,b)".parse().unwrap();
    spec.fields = "spec.nodeName=n1".parse().unwrap();
    let informers = server.informers();
    let informer = informers.get(&spec);
    informer.synced().await.unwrap();
    assert_eq!(
        server.requests()[0],
        "/api/v1/namespaces/shop/pods?limit=2&resourceVersion=0&labelSelector=app%20in%20%28a%2Cb%29&fieldSelector=spec.nodeName%3Dn1"
    );
}

#[tokio::test(start_paused = true)]
async fn panic_is_reported_as_a_failure_and_followed_by_a_list() {
    let server = ScriptedServer::default();
    let (informer, mut changes, informers) = synced(&server, &[pod("a", 3)]).await;
    let watch = server.open(200);
    send(&watch, FATAL);
    tokio::time::sleep(Duration::from_millis(700)).await;
    let error = informer.last_error().expect("the panic is reported");
    assert_eq!(
        error.to_string(),
        "follow pods: a bug, please report it: a bug in the client; starting again"
    );
    server.list(20, &[pod("a", 15)]);
    assert_eq!(change(&mut changes).await, "a 3>15");
    let times = server.times();
    assert!(times[2] - times[1] >= Duration::from_millis(800));
    assert_eq!(server.requests()[2], "/api/v1/pods?limit=2");
    informers.shutdown().await;
}
