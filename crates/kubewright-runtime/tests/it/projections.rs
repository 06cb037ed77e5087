//! Tests of projections, metadata and transforms.

use std::collections::HashMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::cache::{Metadata, View};
use kubewright_runtime::informer::{Content, Informers};
use kubewright_runtime::reflector::{ReflectorOptions, Streaming, Transform};
use kubewright_wire::record::{Encoder, EncoderOptions, Record};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scripted_server::{ScriptedServer, frame, key, pod, pods, send};

#[derive(Debug, Deserialize)]
struct Placed {
    spec: Placement,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Placement {
    node_name: Option<String>,
    containers: Vec<Image>,
}

#[derive(Debug, Deserialize)]
struct Image {
    image: String,
}

fn full(name: &str, revision: u64) -> Value {
    let mut object = pod(name, revision);
    object["metadata"]["labels"] = json!({"app": "web"});
    object["metadata"]["annotations"] = json!({"note": "x"});
    object["spec"]["containers"] = json!([{"name": "main", "image": "nginx", "env": []}]);
    object["status"] = json!({"phase": "Running"});
    object
}

fn stored(view: &View<Placed>, name: &str) -> Value {
    let record = view.informer().store().get(&key(name));
    record.expect("the object is stored").to_value()
}

#[tokio::test(start_paused = true)]
async fn informer_of_a_projection_stores_its_fields_and_the_identity_of_the_object() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1)]);
    let watch = server.open(200);
    let informers = server.informers();
    let view = informers.view::<Placed>(&pods());
    view.informer().synced().await.unwrap();
    let expected = |name: &str, revision: u64| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
                "resourceVersion": revision.to_string(), "labels": {"app": "web"}},
            "spec": {"nodeName": "n1", "containers": [{"image": "nginx"}]},
        })
    };
    assert_eq!(stored(&view, "a"), expected("a", 1));
    send(&watch, frame("ADDED", &full("b", 11)));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(stored(&view, "b"), expected("b", 11));
    let placed = view.get(&key("b")).unwrap().unwrap();
    assert_eq!(placed.spec.node_name.as_deref(), Some("n1"));
    assert_eq!(placed.spec.containers[0].image, "nginx");
}

#[tokio::test(start_paused = true)]
async fn projection_shares_an_existing_informer_of_whole_objects() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1)]);
    let informers = server.informers();
    let whole = informers.view::<Value>(&pods());
    let placed = informers.view::<Placed>(&pods());
    assert_eq!(placed.informer().spec().content, Content::Whole);
    assert_eq!(informers.all().len(), 1);
    whole.informer().synced().await.unwrap();
    assert!(placed.get(&key("a")).unwrap().is_some());
    drop((whole, placed));
    let alone = informers.view::<Placed>(&pods());
    assert!(matches!(
        alone.informer().spec().content,
        Content::Fields(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn fields_of_the_field_selector_are_stored() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1)]);
    let informers = server.informers();
    let mut spec = pods();
    spec.fields = "status.phase=Running".parse().unwrap();
    let view = informers.view::<Placed>(&spec);
    view.informer().synced().await.unwrap();
    assert_eq!(stored(&view, "a")["status"], json!({"phase": "Running"}));
}

#[tokio::test(start_paused = true)]
async fn only_metadata_is_requested_and_stored_even_if_the_server_sends_more() {
    let server = ScriptedServer::default();
    // An object with metadata only, and a complete one as other servers send it.
    let partial = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": full("a", 1)["metadata"]});
    server.list(10, &[partial, full("b", 2)]);
    let _watch = server.open(200);
    let informers = server.informers();
    let view = informers.view::<Metadata<Pod>>(&pods());
    view.informer().synced().await.unwrap();
    for name in ["a", "b"] {
        let pod = view.get(&key(name)).unwrap().unwrap();
        assert_eq!(pod.metadata.annotations.as_ref().unwrap()["note"], "x");
        let record = view.informer().store().get(&key(name)).unwrap();
        let names: Vec<_> = record.root().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["apiVersion", "kind", "metadata"]);
        assert_eq!(record.selectable("kind").as_deref(), Some("Pod"));
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        server.accepted(),
        [
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
            "application/vnd.kubernetes.protobuf;stream=watch;as=PartialObjectMetadata;\
             g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        ]
    );
}

fn transforming(server: &ScriptedServer) -> Informers {
    let strip = Transform::new(|object| {
        object["status"] = json!("stripped");
        object["metadata"]["name"] = json!("another");
    });
    server.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        transforms: HashMap::from([(pods().resource, strip)]),
        ..ReflectorOptions::default()
    })
}

#[tokio::test(start_paused = true)]
async fn transform_changes_each_stored_object_but_not_its_identity() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1)]);
    let watch = server.open(200);
    let informers = transforming(&server);
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    send(&watch, frame("ADDED", &full("b", 11)));
    tokio::time::sleep(Duration::from_millis(1)).await;
    for name in ["a", "b"] {
        let record = informer.store().get(&key(name)).unwrap();
        assert_eq!(record.selectable("status").as_deref(), Some("stripped"));
    }
}

#[tokio::test(start_paused = true)]
async fn transform_changes_own_writes_in_the_cache() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1)]);
    let _watch = server.open(200);
    let informers = transforming(&server);
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let mut response = full("b", 11);
    response["metadata"]["managedFields"] = json!([
        {"manager": "us", "operation": "Apply", "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {}}},
    ]);
    let mut encoder = Encoder::new(EncoderOptions {
        field_manager: Some("us".to_owned()),
        kind: None,
    });
    let record = encoder.encode_value(&response).unwrap();
    informer.store().note_write(key("b"), record.clone());
    let stored = informer.store().get(&key("b")).unwrap();
    assert_eq!(stored.selectable("status").as_deref(), Some("stripped"));
    assert_eq!((stored.name(), stored.uid()), ("b", "uid-b"));
    // What it has applied is still known, so that nothing is sent twice.
    assert!(stored.field_hash().is_some());
    assert_eq!(stored.field_hash(), record.field_hash());
}

#[tokio::test(start_paused = true)]
async fn transform_of_a_kind_takes_precedence_over_that_of_all_kinds() {
    let mark = |text: &'static str| {
        Transform::new(move |object| {
            object["status"] = json!(text);
        })
    };
    for (has_own, expected) in [(false, "any"), (true, "own")] {
        let server = ScriptedServer::default();
        server.list(10, &[full("a", 1)]);
        let _watch = server.open(200);
        let own = has_own.then(|| (pods().resource, mark("own")));
        let informers = server.informers_with(ReflectorOptions {
            streaming: Streaming::off(),
            transforms: own.into_iter().collect(),
            transform: Some(mark("any")),
            ..ReflectorOptions::default()
        });
        let informer = informers.get(&pods());
        informer.synced().await.unwrap();
        let record = informer.store().get(&key("a")).unwrap();
        assert_eq!(record.selectable("status").as_deref(), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_identity_of_an_object_is_stored_when_its_transform_fails() {
    let server = ScriptedServer::default();
    server.list(10, &[full("a", 1), full("b", 2), full("c", 3)]);
    let _watch = server.open(200);
    let failing = Transform::new(|object| match object["metadata"]["name"].as_str() {
        Some("a") => panic!("the transform panics for a"),
        Some("b") => *object = json!([]),
        _ => object["status"] = json!("stripped"),
    });
    let informers = server.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        transform: Some(failing),
        ..ReflectorOptions::default()
    });
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let is_stubbed = |name: &str, revision: &str| {
        let record = informer.store().get(&key(name)).unwrap();
        assert!(record.is_stub());
        assert_eq!(record.uid(), format!("uid-{name}"));
        assert_eq!(record.resource_version(), revision);
        assert!(record.to_value().get("status").is_none());
        assert!(record.to_value().get("spec").is_none());
    };
    is_stubbed("a", "1");
    is_stubbed("b", "2");
    for (name, revision) in [("a", 11), ("b", 12)] {
        let record = Record::from_value(&full(name, revision)).unwrap();
        informer.store().note_write(key(name), record);
        is_stubbed(name, &revision.to_string());
    }
    let record = informer.store().get(&key("c")).unwrap();
    assert_eq!(record.selectable("status").as_deref(), Some("stripped"));
}
