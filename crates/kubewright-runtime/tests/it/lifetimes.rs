//! Tests of the lifetime, the replay and the statistics of informers.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::cache::View;
use kubewright_runtime::informer::Notification;

use crate::scripted_server::{ScriptedServer, frame, key, pod, pods, send};

#[tokio::test(start_paused = true)]
async fn informer_stops_with_its_last_user_and_starts_again_for_the_next() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1)]);
    let watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let view = View::<Pod>::new(informer.clone());
    let mut subscription = informer.subscribe();
    drop(informer);
    drop(view);
    // The subscription is a user too.
    send(&watch, frame("ADDED", &pod("b", 11)));
    let mut received = Vec::new();
    while received.len() < 2 {
        if let Some(Notification::Change(event)) = subscription.next().await {
            received.push(event.key.name().to_owned());
        }
    }
    assert_eq!(received, ["a", "b"]);
    assert_eq!(informers.all().len(), 1);
    drop(subscription);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(informers.all().is_empty());
    assert!(watch.is_closed(), "the watch is ended");
    server.list(20, &[pod("c", 15)]);
    let again = informers.get(&pods());
    again.synced().await.unwrap();
    assert!(again.store().get(&key("a")).is_none());
    assert!(again.store().get(&key("c")).is_some());
}

#[tokio::test(start_paused = true)]
async fn replay_delivers_every_object_once_and_only_on_request() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1), pod("b", 2)]);
    let watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut subscription = informer.subscribe();
    while !matches!(subscription.next().await, Some(Notification::Synced)) {}
    let minutes = Duration::from_secs(120);
    assert!(
        tokio::time::timeout(minutes, subscription.next())
            .await
            .is_err()
    );
    send(&watch, frame("MODIFIED", &pod("b", 11)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    subscription.replay();
    let mut received = Vec::new();
    while received.len() < 2 {
        let Some(Notification::Change(event)) = subscription.next().await else {
            panic!("the informer runs");
        };
        let (old, new) = (event.old.unwrap(), event.new.unwrap());
        let (old, new) = (old.resource_version(), new.resource_version());
        received.push(format!("{} {old}>{new}", event.key.name()));
    }
    assert_eq!(received, ["b 2>11", "a 1>1"]);
    assert!(
        tokio::time::timeout(Duration::from_secs(1), subscription.next())
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn stats_contain_size_and_lag_of_each_informer() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1), pod("b", 2)]);
    let _watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    server.list(25, &[pod("a", 1)]);
    let mut spec = pods();
    spec.namespace = Some("shop".to_owned());
    let other = informers.get(&spec);
    other.synced().await.unwrap();
    let all = informers.stats();
    let find = |namespace: Option<&str>| {
        all.iter()
            .find(|status| status.spec.namespace.as_deref() == namespace)
            .unwrap()
    };
    let (first, second) = (find(None), find(Some("shop")));
    assert_eq!((first.stats.objects, first.lag), (2, Some(15)));
    assert_eq!((second.stats.objects, second.lag), (1, Some(0)));
    assert!(first.is_synced && first.stats.bytes > second.stats.bytes);
    assert!(second.stats.bytes > 0 && second.stats.last_error.is_none());
}
