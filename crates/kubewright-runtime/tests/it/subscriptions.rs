//! Tests of subscriptions to informers.

use kubewright_runtime::informer::{Notification, Subscription};

use crate::scripted_server::{ScriptedServer, frame, key, pod, pod_with_uid, pods, send};

/// The next notification: `initial a`, `+a` (created), `~a` (changed), `-a` (deleted), `synced` or
/// `end`.
async fn received(subscription: &mut Subscription) -> String {
    match subscription.next().await {
        None => "end".to_owned(),
        Some(Notification::Change(event)) => {
            let sign = match (&event.old, &event.new) {
                (None, _) if event.is_initial => "initial ",
                (None, _) => "+",
                (_, None) => "-",
                _ => "~",
            };
            format!("{sign}{}", event.key.name())
        }
        Some(_) => "synced".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn early_and_late_subscribers_receive_the_initial_state_and_then_synced() {
    let server = ScriptedServer::default();
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut early = informer.subscribe();
    server.list(10, &[pod("b", 2), pod("a", 1)]);
    let watch = server.open(200);
    for expected in ["initial a", "initial b", "synced"] {
        assert_eq!(received(&mut early).await, expected);
    }
    send(&watch, frame("ADDED", &pod("c", 11)));
    assert_eq!(received(&mut early).await, "+c");
    let mut late = informer.subscribe();
    for expected in ["initial a", "initial b", "initial c", "synced"] {
        assert_eq!(received(&mut late).await, expected);
    }
    send(&watch, frame("DELETED", &pod("a", 12)));
    assert_eq!(received(&mut early).await, "-a");
    assert_eq!(received(&mut late).await, "-a");
}

#[tokio::test(start_paused = true)]
async fn slow_subscriber_receives_one_merged_change_per_object() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1), pod("b", 2)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut slow = informer.subscribe();
    let mut quick = informer.subscribe();
    for subscriber in [&mut slow, &mut quick] {
        for expected in ["initial a", "initial b", "synced"] {
            assert_eq!(received(subscriber).await, expected);
        }
    }
    let watch = server.open(200);
    let events = [
        frame("MODIFIED", &pod("b", 11)),
        frame("ADDED", &pod("passing", 12)),
        frame("MODIFIED", &pod("a", 13)),
        frame("DELETED", &pod("passing", 14)),
        frame("MODIFIED", &pod("b", 15)),
        frame("DELETED", &pod("a", 16)),
        frame("ADDED", &pod_with_uid("a", "second", 17)),
        frame("ADDED", &pod("end", 18)),
    ];
    for event in &events {
        send(&watch, event);
        received(&mut quick).await;
    }
    let Some(Notification::Change(b)) = slow.next().await else {
        panic!("b has changed");
    };
    let versions = (b.old.unwrap(), b.new.unwrap());
    assert_eq!(
        (versions.0.resource_version(), versions.1.resource_version()),
        ("2", "15")
    );
    for expected in ["-a", "+a", "+end"] {
        assert_eq!(received(&mut slow).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn store_contains_the_change_when_it_is_notified() {
    let server = ScriptedServer::default();
    server.list(10, &[]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    assert_eq!(received(&mut changes).await, "synced");
    let watch = server.open(200);
    send(&watch, frame("ADDED", &pod("a", 11)));
    assert_eq!(received(&mut changes).await, "+a");
    assert!(informer.store().get(&key("a")).is_some());
}

#[tokio::test(start_paused = true)]
async fn equal_specs_share_one_informer_and_others_do_not() {
    let server = ScriptedServer::default();
    server.list(10, &[]);
    let informers = server.informers();
    let (first, second) = (informers.get(&pods()), informers.get(&pods()));
    first.synced().await.unwrap();
    second.synced().await.unwrap();
    assert_eq!(informers.all().len(), 1);
    let mut other = pods();
    other.namespace = Some("shop".to_owned());
    let other = informers.get(&other);
    assert_eq!(informers.all().len(), 2);
    assert!(!other.is_synced());
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_subscriptions_and_waiters_and_the_store_remains_readable() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    informer.synced().await.unwrap();
    let mut other = pods();
    other.namespace = Some("shop".to_owned());
    let never = informers.get(&other);
    let (waited, ()) = tokio::join!(never.synced(), informers.shutdown());
    assert_eq!(
        waited.unwrap_err().to_string(),
        "wait for the first list of pods in shop: the informer was stopped before it"
    );
    for expected in ["initial a", "synced", "end", "end"] {
        assert_eq!(received(&mut changes).await, expected);
    }
    assert!(informer.store().get(&key("a")).is_some());
    assert!(informer.is_synced());
    informer.synced().await.unwrap();
    assert!(!never.is_synced());
    assert_eq!(received(&mut informer.subscribe()).await, "end");
}
