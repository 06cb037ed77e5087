//! Tests of kinds that are not served and of missing permissions.

use std::time::Duration;

use kubewright_runtime::informer::{Notification, Obstacle, SyncError};
use serde_json::json;

use crate::scripted_server::{ScriptedServer, key, pod, pods};

#[tokio::test(start_paused = true)]
async fn missing_kind_is_reported_at_once_and_listed_within_seconds_of_its_creation() {
    let server = ScriptedServer::default();
    for _ in 0..20 {
        server.respond(404, "404 page not found");
    }
    let informers = server.informers();
    let informer = informers.get(&pods());
    let error = informer.try_synced().await.unwrap_err();
    assert!(matches!(error, SyncError::NotServed { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "list pods: the API server does not serve it; install its CustomResourceDefinition, the informer retries until then"
    );
    assert_eq!(informer.obstacle(), Some(Obstacle::NotServed));
    assert_eq!(informers.stats()[0].obstacle, Some(Obstacle::NotServed));
    tokio::time::sleep(Duration::from_secs(60)).await;
    server.list(10, &[pod("a", 1)]);
    informer.synced().await.unwrap();
    assert_eq!(informer.obstacle(), None);
    let times = server.times();
    let waits = times.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(waits.max().unwrap() <= Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn missing_permission_is_reported_at_once_and_keeps_cached_objects() {
    let server = ScriptedServer::default();
    let forbidden = json!({"kind": "Status", "code": 403, "reason": "Forbidden",
        "message": "pods is forbidden"});
    server.respond(403, &forbidden);
    server.list(10, &[pod("a", 1)]);
    server.respond(403, &forbidden);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let error = informer.try_synced().await.unwrap_err();
    assert!(matches!(error, SyncError::Forbidden { .. }), "{error}");
    assert_eq!(informer.obstacle(), Some(Obstacle::Forbidden));
    informer.synced().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(informer.is_synced() && informer.last_error().is_some());
    assert!(informer.store().get(&key("a")).is_some());
}

#[tokio::test(start_paused = true)]
async fn removed_kind_removes_its_objects_and_can_return() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    while !matches!(changes.next().await, Some(Notification::Synced)) {}
    // A single 404 can be a mistake: the watch fails, then two lists.
    for _ in 0..3 {
        server.respond(404, "404 page not found");
    }
    let Some(Notification::Change(gone)) = changes.next().await else {
        panic!("the object is deleted");
    };
    assert!(gone.new.is_none() && gone.key == key("a"));
    assert_eq!(server.requests().len(), 4);
    assert!(!informer.is_synced());
    assert_eq!(informer.obstacle(), Some(Obstacle::NotServed));
    server.list(20, &[pod("b", 15)]);
    let Some(Notification::Change(new)) = changes.next().await else {
        panic!("the kind is back");
    };
    assert!(new.old.is_none() && new.key == key("b"));
    assert!(informer.is_synced());
}

#[tokio::test(start_paused = true)]
async fn objects_survive_a_momentary_404() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1)]);
    server.respond(404, "404 page not found");
    server.respond(404, "404 page not found");
    server.list(20, &[pod("a", 1)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    while !matches!(changes.next().await, Some(Notification::Synced)) {}
    let minute = Duration::from_secs(60);
    assert!(tokio::time::timeout(minute, changes.next()).await.is_err());
    assert_eq!(informer.stats().relists(), 1);
}
