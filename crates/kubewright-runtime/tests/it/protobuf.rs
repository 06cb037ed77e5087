//! Tests of the reflector against an API server that responds in protobuf.

use std::time::Duration;

use bytes::Bytes;
use kubewright_core::{Kind, Resource, Scope};
use kubewright_runtime::informer::{InformerSpec, Informers};
use kubewright_runtime::reflector::{Content, Protobuf, ReflectorOptions, Streaming, Transform};
use kubewright_runtime::store::Store;
use kubewright_wire::status::Reason;
use serde_json::json;

use crate::scripted_server::{Chunks, ScriptedServer, key, pod, pods};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const WATCHED: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// A field of a message with its number and content.
fn field(number: u8, inside: impl AsRef<[u8]>) -> Vec<u8> {
    let inside = inside.as_ref();
    let mut head = vec![number << 3 | 2];
    let mut rest = inside.len();
    while rest >= 128 {
        head.push(u8::try_from(rest & 127).expect("seven bits") | 128);
        rest >>= 7;
    }
    head.push(u8::try_from(rest).expect("seven bits"));
    [head, inside.to_vec()].concat()
}

fn envelope(kind: &str, raw: &[u8]) -> Vec<u8> {
    let kind = [field(1, "v1"), field(2, kind)].concat();
    let fields = [field(1, kind), field(2, raw), field(3, ""), field(4, "")].concat();
    [b"k8s\0".to_vec(), fields].concat()
}

/// The Pod of [`pod`] in protobuf, with an argument of any length.
fn message(name: &str, revision: u64, argument: &str) -> Vec<u8> {
    let metadata = [
        field(1, name),
        field(3, "shop"),
        field(5, format!("uid-{name}")),
        field(6, revision.to_string()),
    ];
    let container = [field(1, "main"), field(4, argument)].concat();
    let spec = [field(2, container), field(10, "n1")].concat();
    [field(1, metadata.concat()), field(2, spec)].concat()
}

fn list(revision: u64, token: &str, objects: &[Vec<u8>]) -> Vec<u8> {
    let metadata = [
        field(1, ""),
        field(2, revision.to_string()),
        field(3, token),
    ]
    .concat();
    let items = objects.iter().map(|object| field(2, object));
    let list: Vec<u8> = [field(1, metadata)]
        .into_iter()
        .chain(items)
        .flatten()
        .collect();
    envelope("PodList", &list)
}

fn frame(event_type: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let event = [
        field(1, event_type),
        field(2, field(1, envelope(kind, object))),
    ]
    .concat();
    let length = u32::try_from(event.len()).expect("a short frame");
    [length.to_be_bytes().to_vec(), event].concat()
}

fn event(event_type: &str, name: &str, revision: u64) -> Vec<u8> {
    frame(event_type, "Pod", &message(name, revision, "x"))
}

fn bookmark(revision: u64, annotations: &[u8]) -> Vec<u8> {
    let metadata = [field(6, revision.to_string()), annotations.to_vec()].concat();
    frame("BOOKMARK", "Pod", &field(1, metadata))
}

fn end_of_state(revision: u64) -> Vec<u8> {
    let end = [field(1, "k8s.io/initial-events-end"), field(2, "true")].concat();
    bookmark(revision, &field(12, end))
}

fn status(message: &str, reason: &str, code: u16) -> Vec<u8> {
    let fields = [
        field(1, ""),
        field(2, "Failure"),
        field(3, message),
        field(4, reason),
    ];
    let low = u8::try_from(code & 127).expect("seven bits") | 128;
    let high = u8::try_from(code >> 7).expect("seven bits");
    [fields.concat(), vec![6 << 3, low, high]].concat()
}

fn expired() -> Vec<u8> {
    status("too old resource version: 1 (9)", "Expired", 410)
}

fn send(chunks: &Chunks, bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    chunks.try_send(Ok(bytes)).expect("room in the body");
}

fn respond(server: &ScriptedServer, code: u16, body: &[u8]) {
    send(&server.open_as(code, PROTOBUF), body);
}

/// The objects in the store as `name@revision`, in key order.
fn content(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let objects = snapshot.iter();
    objects
        .map(|(key, record)| format!("{}@{}", key.name(), record.resource_version()))
        .collect()
}

fn streaming(server: &ScriptedServer) -> Informers {
    server.informers_with(ReflectorOptions::default())
}

async fn settled() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn stream_in_chunks_of_any_size_delivers_state_changes_and_bookmarks() {
    let stream = [
        event("ADDED", "a", 3),
        event("ADDED", "b", 4),
        end_of_state(5),
        event("MODIFIED", "a", 6),
        event("DELETED", "b", 7),
        event("ADDED", "c", 8),
        bookmark(9, &[]),
    ]
    .concat();
    for cut in 0..=stream.len() {
        let server = ScriptedServer::default();
        let informers = streaming(&server);
        let watch = server.open_as(200, WATCHED);
        let informer = informers.get(&pods());
        let (head, tail) = stream.split_at(cut);
        send(&watch, head);
        settled().await;
        send(&watch, tail);
        informer.synced().await.unwrap();
        settled().await;
        assert_eq!(content(informer.store()), ["a@6", "c@8"], "{cut}");
        assert_eq!(
            informer
                .stats()
                .revision
                .map(|at| at.to_string())
                .as_deref(),
            Some("9")
        );
        assert_eq!(informer.stats().failures, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn list_in_protobuf_equals_the_list_in_json() {
    let server = ScriptedServer::default();
    respond(&server, 200, &list(10, "more", &[message("a", 1, "x")]));
    respond(&server, 200, &list(10, "", &[message("b", 2, "x")]));
    let _watch = server.open_as(200, WATCHED);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["a@1", "b@2"]);
    assert!(server.requests()[1].contains("continue=more"));
    let record = informer.store().get(&key("a")).unwrap();
    assert_eq!(record.selectable("kind").as_deref(), Some("Pod"));
    assert_eq!(record.selectable("spec.nodeName").as_deref(), Some("n1"));
    let containers = record.to_value()["spec"]["containers"].clone();
    assert_eq!(
        containers,
        json!([{"name": "main", "args": ["x"], "resources": {}}])
    );
    settled().await;
    assert_eq!(
        server.accepted(),
        [
            "application/vnd.kubernetes.protobuf,application/json",
            "application/vnd.kubernetes.protobuf,application/json",
            "application/vnd.kubernetes.protobuf;stream=watch,application/json"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn expired_revision_is_detected_in_the_stream_and_in_the_response() {
    let server = ScriptedServer::default();
    respond(&server, 200, &list(10, "", &[message("a", 1, "x")]));
    let watch = server.open_as(200, WATCHED);
    send(&watch, &frame("ERROR", "Status", &expired()));
    respond(&server, 200, &list(20, "", &[message("b", 12, "x")]));
    respond(&server, 410, &envelope("Status", &expired()));
    respond(&server, 200, &list(30, "", &[message("c", 22, "x")]));
    let _watch = server.open_as(200, WATCHED);
    let informers = server.informers();
    let informer = informers.get(&pods());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(content(informer.store()), ["c@22"]);
    assert_eq!(informer.stats().failures, 2);
    assert_eq!(informer.stats().lists, 3);
}

#[tokio::test(start_paused = true)]
async fn error_response_is_decoded() {
    let server = ScriptedServer::default();
    let forbidden = status("pods is forbidden", "Forbidden", 403);
    respond(&server, 403, &envelope("Status", &forbidden));
    let informers = server.informers();
    let informer = informers.get(&pods());
    settled().await;
    let error = informer.stats().last_error.unwrap();
    let status = error.status().unwrap();
    assert_eq!(
        (status.code, status.message.as_str()),
        (403, "pods is forbidden")
    );
    assert_eq!(status.reason, Some(Reason::Forbidden));
}

#[tokio::test(start_paused = true)]
async fn all_informers_request_json_after_a_406() {
    let server = ScriptedServer::default();
    server.respond(406, "only JSON here");
    server.list(10, &[pod("a", 1)]);
    let _watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["a@1"]);
    server.list(10, &[pod("a", 1)]);
    let mut shop = pods();
    shop.namespace = Some("shop".to_owned());
    settled().await;
    let other = informers.get(&shop);
    other.synced().await.unwrap();
    let accepted = server.accepted();
    assert!(accepted[0].starts_with(PROTOBUF));
    assert!(
        accepted[1..]
            .iter()
            .all(|accept| accept == "application/json"),
        "{accepted:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn json_is_requested_after_a_malformed_protobuf_response() {
    let server = ScriptedServer::default();
    respond(&server, 200, b"{\"items\":[]}");
    server.list(10, &[pod("a", 1)]);
    let _watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    assert_eq!(content(informer.store()), ["a@1"]);
    assert_eq!(server.accepted()[1], "application/json");
}

#[tokio::test(start_paused = true)]
async fn object_above_the_size_limit_is_an_error_and_others_are_stored() {
    let server = ScriptedServer::default();
    let long = "x".repeat(5000);
    let objects = [
        message("a", 1, "x"),
        message("b", 2, &long),
        message("c", 3, "x"),
    ];
    respond(&server, 200, &list(10, "", &objects));
    let informers = server.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        largest_object: 1000,
        ..ReflectorOptions::default()
    });
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let stubs = |names: [&str; 3]| {
        names.map(|name| {
            informer
                .store()
                .get(&key(name))
                .map(|record| record.is_stub())
        })
    };
    assert_eq!(
        stubs(["a", "b", "c"]),
        [Some(false), Some(true), Some(false)]
    );
    let watch = server.open_as(200, WATCHED);
    send(&watch, &frame("MODIFIED", "Pod", &message("a", 11, &long)));
    send(&watch, &event("ADDED", "d", 12));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(
        stubs(["a", "c", "d"]),
        [Some(true), Some(false), Some(false)]
    );
    send(&watch, &frame("DELETED", "Pod", &message("a", 13, &long)));
    settled().await;
    assert_eq!(content(informer.store()), ["b@2", "c@3", "d@12"]);
}

#[tokio::test(start_paused = true)]
async fn transforms_are_applied_and_metadata_is_requested_alone() {
    let server = ScriptedServer::default();
    respond(&server, 200, &list(10, "", &[message("a", 1, "x")]));
    let _watch = server.open_as(200, WATCHED);
    let strip = Transform::new(|object| {
        assert_eq!(object["spec"]["nodeName"], "n1");
        object["spec"] = json!("stripped");
    });
    let informers = server.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        transform: Some(strip),
        ..ReflectorOptions::default()
    });
    let informer = informers.get(&pods());
    informer.synced().await.unwrap();
    let record = informer.store().get(&key("a")).unwrap();
    assert_eq!(record.selectable("spec").as_deref(), Some("stripped"));

    let server = ScriptedServer::default();
    respond(&server, 200, &list(10, "", &[message("a", 1, "x")]));
    let informers = server.informers();
    let informer = informers.get(&pods().with_content(Content::Metadata));
    informer.synced().await.unwrap();
    let record = informer.store().get(&key("a")).unwrap();
    let names: Vec<_> = record.root().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["apiVersion", "kind", "metadata"]);
    assert_eq!(record.selectable("kind").as_deref(), Some("Pod"));
    assert_eq!(
        server.accepted()[0],
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
         application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    );
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_requested_as_json_and_so_are_all_kinds_by_option() {
    let server = ScriptedServer::default();
    server.list(10, &[pod("a", 1)]);
    let _watch = server.open(200);
    let toys = Resource::new(
        Kind::new("example.com", "v1", "Toy"),
        "toys",
        Scope::Namespaced,
    );
    let informers = server.informers();
    informers
        .get(&InformerSpec::all(toys))
        .synced()
        .await
        .unwrap();
    let quiet = ScriptedServer::default();
    quiet.list(10, &[pod("a", 1)]);
    let informers = quiet.informers_with(ReflectorOptions {
        streaming: Streaming::off(),
        protobuf: Protobuf::off(),
        ..ReflectorOptions::default()
    });
    informers.get(&pods()).synced().await.unwrap();
    let accepted = [server.accepted(), quiet.accepted()].concat();
    assert!(
        accepted.iter().all(|accept| accept == "application/json"),
        "{accepted:?}"
    );
}
