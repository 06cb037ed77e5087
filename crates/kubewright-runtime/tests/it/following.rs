use std::time::Duration;

use bytes::Bytes;
use kubewright_runtime::informer::{Informer, Informers, Notification, Subscription};
use kubewright_runtime::store::Store;
use serde_json::{Value, json};

use crate::scripted::{
    FATAL, Scripted, bookmark, expired, frame, key, next_notice, pod, pod_with_uid, pods, send,
};

/// `name@revision` of all objects, in order.
fn content(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let objects = snapshot.iter();
    objects
        .map(|(key, record)| format!("{}@{}", key.name(), record.resource_version()))
        .collect()
}

/// The next change, as `old>new` with `name@revision`, `-` for none.
async fn change(subscription: &mut Subscription) -> String {
    loop {
        match next_notice(subscription).await {
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

/// An informer over `objects` that has synced, and a subscription past its initial state.
async fn synced(server: &Scripted, objects: &[Value]) -> (Informer, Subscription, Informers) {
    server.list(10, objects);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.expect("the list is there");
    let mut subscription = informer.subscribe();
    while !matches!(next_notice(&mut subscription).await, Notification::Synced) {}
    (informer, subscription, informers)
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_by_a_watch_from_its_revision() {
    let server = Scripted::default();
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
async fn a_list_in_pages_is_taken_in_whole() {
    let server = Scripted::default();
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
async fn a_page_that_has_expired_begins_the_list_again_in_one_piece() {
    let server = Scripted::default();
    server.page(10, &[pod("a", 1), pod("b", 2)], "next");
    server.answer(410, expired());
    server.list(12, &[pod("b", 2), pod("c", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["b@2", "c@3"]);
    assert_eq!(server.requests()[2], "/api/v1/pods");
}

#[tokio::test(start_paused = true)]
async fn a_watch_cut_at_any_byte_goes_on_where_it_stopped_without_a_list() {
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
        let server = Scripted::default();
        let (informer, mut changes, _informers) = synced(&server, &[pod("a", 3)]).await;
        let watch = server.open(200);
        let (head, _) = stream.as_bytes().split_at(cut);
        watch.try_send(Ok(Bytes::copy_from_slice(head))).unwrap();
        drop(watch);
        // A server sends what comes after the revision that it is asked for.
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let revision = [10, 11, 12, 13, 14][whole];
        let second = server.open(200);
        send(
            &second,
            frames[whole..].concat() + &frame("ADDED", &pod("z", 20)),
        );
        while change(&mut changes).await != "z ->20" {}
        assert_eq!(content(informer.store()), ["a@13", "z@20"], "cut at {cut}");
        let asked = format!("&resourceVersion={revision}&");
        assert!(server.requests()[2].contains(&asked), "cut at {cut}");
        assert_eq!(informer.stats().relists(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_revision_within_the_stream_or_at_its_start_causes_one_fresh_list() {
    for in_stream in [true, false] {
        let server = Scripted::default();
        let (informer, mut changes, _informers) =
            synced(&server, &[pod("a", 3), pod("b", 4)]).await;
        match in_stream {
            true => server.answer(200, frame("ERROR", &expired())),
            false => server.answer(410, expired()),
        }
        server.list(20, &[pod("b", 15), pod("c", 16)]);
        // Deleted while nobody watched: told first.
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
async fn an_object_replaced_by_another_of_its_name_is_gone_and_then_new() {
    let server = Scripted::default();
    let (_informer, mut changes, _informers) = synced(&server, &[pod("a", 3)]).await;
    server.answer(410, expired());
    server.list(20, &[pod_with_uid("a", "another", 15)]);
    assert_eq!(change(&mut changes).await, "a 3>-");
    assert_eq!(change(&mut changes).await, "a ->15");
}

#[tokio::test(start_paused = true)]
async fn what_a_relist_shows_unchanged_is_neither_told_nor_stored_twice() {
    let server = Scripted::default();
    let (informer, mut changes, _informers) = synced(&server, &[pod("a", 3), pod("b", 4)]).await;
    let before = informer.store().get(&key("a")).unwrap();
    server.answer(410, expired());
    server.list(20, &[pod("a", 3), pod("b", 15)]);
    assert_eq!(change(&mut changes).await, "b 4>15");
    assert!(informer.store().get(&key("a")).unwrap().is_same(&before));
}

#[tokio::test(start_paused = true)]
async fn failing_lists_wait_longer_and_longer_and_say_why() {
    let server = Scripted::default();
    for _ in 0..8 {
        server.answer(500, "out of order");
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
    for (wait, least) in waits
        .iter()
        .zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0])
    {
        assert!(
            (least..=least * 2.0 + 0.01).contains(wait),
            "{wait} for {least}"
        );
    }
    assert_eq!(informer.stats().failures, 8);
    assert!(informer.last_error().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_asked_again_when_it_says_and_without_a_list() {
    let server = Scripted::default();
    let (informer, mut changes, _informers) = synced(&server, &[]).await;
    let busy = json!({"kind": "Status", "code": 429, "reason": "TooManyRequests",
        "details": {"retryAfterSeconds": 17}});
    server.answer(429, busy);
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("b", 11)));
    assert_eq!(change(&mut changes).await, "b ->11");
    let times = server.times();
    assert!(times[2] - times[1] >= Duration::from_secs(17));
    assert_eq!(informer.stats().relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_silent_is_given_up_when_two_bookmarks_are_missing() {
    let server = Scripted::default();
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
async fn a_watch_with_nothing_but_bookmarks_lasts_its_time() {
    let server = Scripted::default();
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
async fn watches_that_end_at_once_do_not_become_a_storm() {
    let server = Scripted::default();
    let (_informer, _changes, _informers) = synced(&server, &[]).await;
    for _ in 0..1000 {
        server.answer(200, "");
    }
    tokio::time::sleep(Duration::from_secs(300)).await;
    let requests = server.requests().len();
    assert!((8..25).contains(&requests), "{requests} requests");
}

#[tokio::test(start_paused = true)]
async fn a_revision_from_the_future_makes_the_list_fresh() {
    let server = Scripted::default();
    let ahead = json!({"kind": "Status", "code": 504, "reason": "Timeout",
        "details": {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}});
    server.answer(504, ahead);
    server.list(10, &[pod("a", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(server.requests()[1], "/api/v1/pods?limit=2");
}

#[tokio::test(start_paused = true)]
async fn selectors_and_namespace_reach_the_server() {
    let server = Scripted::default();
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
async fn a_panic_is_a_failure_after_which_everything_is_listed_anew() {
    let server = Scripted::default();
    let (informer, mut changes, informers) = synced(&server, &[pod("a", 3)]).await;
    let watch = server.open(200);
    send(&watch, FATAL);
    tokio::time::sleep(Duration::from_millis(700)).await;
    let error = informer.last_error().expect("the panic is told");
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
