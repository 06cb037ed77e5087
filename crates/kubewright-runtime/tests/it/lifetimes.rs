use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::cache::View;
use kubewright_runtime::informer::Notification;

use crate::scripted::{Scripted, frame, key, pod, pods, send};

#[tokio::test(start_paused = true)]
async fn an_informer_stops_with_its_last_user_and_starts_anew_for_the_next() {
    let server = Scripted::default();
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
    let mut heard = Vec::new();
    while heard.len() < 2 {
        if let Some(Notification::Change(event)) = subscription.next().await {
            heard.push(event.key.name().to_owned());
        }
    }
    assert_eq!(heard, ["a", "b"]);
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
async fn a_replay_tells_of_every_object_once_and_only_when_asked() {
    let server = Scripted::default();
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
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let Some(Notification::Change(event)) = subscription.next().await else {
            panic!("the informer runs");
        };
        let (old, new) = (event.old.unwrap(), event.new.unwrap());
        let (old, new) = (old.resource_version(), new.resource_version());
        heard.push(format!("{} {old}>{new}", event.key.name()));
    }
    assert_eq!(heard, ["b 2>11", "a 1>1"]);
    assert!(
        tokio::time::timeout(Duration::from_secs(1), subscription.next())
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn what_each_informer_holds_and_how_far_it_is_can_be_read() {
    let server = Scripted::default();
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
            .find(|one| one.spec.namespace.as_deref() == namespace)
            .unwrap()
    };
    let (first, second) = (find(None), find(Some("shop")));
    assert_eq!((first.stats.objects, first.lag), (2, Some(15)));
    assert_eq!((second.stats.objects, second.lag), (1, Some(0)));
    assert!(first.is_synced && first.stats.bytes > second.stats.bytes);
    assert!(second.stats.bytes > 0 && second.stats.last_error.is_none());
}
