//! Tests of objects that cannot be decoded.

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::cache::View;
use kubewright_runtime::informer::{Notification, Subscription};
use kubewright_runtime::reflector::{ReflectorOptions, Streaming};
use kubewright_runtime::store::{Filter, Store};
use kubewright_runtime::write::{Intent, Target, Writer};
use serde_json::json;

use crate::scripted_server::{
    ScriptedServer, deep, frame, key, next_notification, pod, pods, send,
};

/// The name of the next changed object.
async fn changed(subscription: &mut Subscription) -> String {
    loop {
        if let Notification::Change(event) = next_notification(subscription).await {
            return event.key.name().to_owned();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn undecodable_object_is_an_error_and_others_are_stored() {
    let server = ScriptedServer::default();
    let mut owned = deep("b", 2);
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1",
        "kind": "ReplicaSet", "name": "rs", "uid": "o1"}]);
    owned["metadata"]["labels"] = json!({"app": "web"});
    server.list(10, &[pod("a", 1), owned, pod("c", 3)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    for name in ["a", "b", "c"] {
        assert_eq!(changed(&mut changes).await, name);
    }
    let view = View::<Pod>::new(informer.clone());
    assert_eq!(view.list().iter().count(), 2);
    let error = view.get(&key("b")).unwrap_err();
    assert_eq!(error.key(), &key("b"));
    let (_, record) = informer.store().by_owner("o1").remove(0);
    assert_eq!((record.uid(), record.label("app")), ("uid-b", Some("web")));

    let watch = server.open(200);
    let frames = frame("MODIFIED", &deep("b", 11)) + &frame("ADDED", &pod("d", 12));
    send(&watch, frames);
    assert_eq!(changed(&mut changes).await, "b");
    assert_eq!(changed(&mut changes).await, "d");
    send(&watch, frame("DELETED", &deep("b", 13)));
    assert_eq!(changed(&mut changes).await, "b");
    assert!(informer.store().get(&key("b")).is_none());
    assert_eq!(informer.stats().failures, 0);
}

#[tokio::test(start_paused = true)]
async fn object_with_invalid_metadata_is_skipped_and_counted() {
    let server = ScriptedServer::default();
    let nameless = |revision| {
        let mut object = deep("x", revision);
        object["metadata"]["name"] = json!(7);
        object
    };
    server.list(10, &[nameless(1), pod("a", 2)]);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    assert_eq!(changed(&mut changes).await, "a");
    informer.synced().await.unwrap();
    let error = informer.last_error().expect("the object is reported");
    assert_eq!(
        error.to_string(),
        "list pods: an object in the response cannot be stored"
    );
    let watch = server.open(200);
    send(&watch, frame("ADDED", &nameless(11)));
    send(&watch, frame("ADDED", &pod("b", 12)));
    assert_eq!(changed(&mut changes).await, "b");
    let stats = informer.stats();
    assert_eq!((stats.unreadable, stats.failures, stats.lists), (2, 0, 1));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn write_with_an_undecodable_response_succeeds() {
    let server = ScriptedServer::default();
    server.respond(200, deep("a", 11));
    let (resource, store) = (pods().resource, Store::new(Filter::default()));
    store.replace(Vec::new(), "10");
    let target = Target {
        resource: &resource,
        store: Some(&store),
    };
    let intent = Intent::new(&resource, &json!({"metadata": {"name": "a"}}), Some("shop")).unwrap();
    let writer = Writer::new(server.client(), "us");
    for _ in 0..2 {
        let record = writer.apply(target, &intent).await.unwrap();
        assert_eq!(record.resource_version(), "11");
    }
    assert_eq!(server.requests().len(), 1);
    server.respond(200, deep("a", 12));
    writer.delete(target, &key("a"), "uid-a").await.unwrap();
    assert!(store.get(&key("a")).is_none());
}

#[tokio::test(start_paused = true)]
async fn object_above_the_size_limit_is_an_error_and_others_are_stored() {
    let server = ScriptedServer::default();
    let large = |name: &str, revision| {
        let mut object = pod(name, revision);
        object["spec"]["args"] = json!("x".repeat(5000));
        // Servers write the metadata before the large fields.
        format!(
            r#"{{"kind":"Pod","metadata":{},"spec":{}}}"#,
            object["metadata"], object["spec"]
        )
    };
    let list = format!(
        r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{},{},{}]}}"#,
        pod("a", 1),
        large("b", 2),
        pod("c", 3)
    );
    server.respond(200, list);
    let informers = server.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        largest_object: 1000,
        ..ReflectorOptions::default()
    });
    let informer = informers.get(&pods());
    let mut changes = informer.subscribe();
    for name in ["a", "b", "c"] {
        assert_eq!(changed(&mut changes).await, name);
    }
    let view = View::<Pod>::new(informer.clone());
    assert_eq!(view.list().iter().count(), 2);
    assert!(view.get(&key("b")).is_err());

    let watch = server.open(200);
    let large_frame = |kind, object| format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
    send(&watch, large_frame("MODIFIED", large("a", 11)));
    send(&watch, frame("ADDED", &pod("d", 12)));
    assert_eq!(changed(&mut changes).await, "a");
    assert_eq!(changed(&mut changes).await, "d");
    assert!(
        view.get(&key("a")).is_err(),
        "its former state is not visible"
    );
    send(&watch, large_frame("DELETED", large("a", 13)));
    assert_eq!(changed(&mut changes).await, "a");
    assert!(informer.store().get(&key("a")).is_none());
    // An object whose beginning does not contain its name.
    send(
        &watch,
        large_frame("ADDED", format!("{{\"spec\":\"{}\"}}", "x".repeat(5000))),
    );
    send(&watch, frame("ADDED", &pod("e", 15)));
    assert_eq!(changed(&mut changes).await, "e");
    let stats = informer.stats();
    assert_eq!((stats.unreadable, stats.failures, stats.lists), (1, 0, 1));
}
