//! Objects of all built-in kinds of a real API server are equal in protobuf and JSON.

use std::collections::{BTreeMap, BTreeSet};

use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubewright_core::Kind;
use kubewright_testing::Cluster;
use kubewright_wire::protobuf::{Layout, Layouts};
use kubewright_wire::record::{Encoder, EncoderOptions, Record};
use kubewright_wire::scan::{Item, ListScanner, MessageScanner, ScanError};
use kubewright_wire::yaml;
use serde_json::Value;

/// Kinds that are not stored, so that they cannot be listed.
const UNLISTED: [&str; 14] = [
    "Binding",
    "ComponentStatus",
    "DeleteOptions",
    "Eviction",
    "LocalSubjectAccessReview",
    "PartialObjectMetadata",
    "Scale",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "Status",
    "SubjectAccessReview",
    "TokenRequest",
    "TokenReview",
];

/// A resource that the server serves.
struct ServedResource {
    kind: Kind,
    path: String,
    plural: String,
    is_namespaced: bool,
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_all_kinds_are_equal_in_protobuf_and_json() {
    let cluster = Cluster::real().nodes(1).dedicated();
    let cluster = cluster
        .named("every_kind_in_protobuf")
        .start_or_skip()
        .await;
    let Some(cluster) = cluster.expect("the cluster starts") else {
        return;
    };
    let client = cluster.client();
    let served = discover(&client).await;
    let text = include_str!("../protobuf/objects.yaml");
    let text = text.replace("NAMESPACE", cluster.namespace());
    for object in yaml::documents(&text).expect("the objects are YAML") {
        apply(&cluster, &served, &object).await;
    }
    let mut compared = BTreeSet::new();
    for resource in &served {
        let Some(layout) = Layouts::builtin().of_kind(&resource.kind) else {
            continue;
        };
        if UNLISTED.contains(&resource.kind.kind.as_str()) {
            continue;
        }
        cluster
            .eventually(format!("{} are compared", resource.plural), async |c| {
                compare(&c.client(), resource, layout).await > 0
            })
            .await;
        compared.insert((resource.kind.api_version(), resource.kind.kind.clone()));
    }
    cluster.close().await.expect("the cluster stops");
    let missing: Vec<_> = Layouts::builtin()
        .kinds()
        .filter(|(_, kind)| !UNLISTED.contains(kind))
        .filter(|(version, kind)| !compared.contains(&((*version).into(), (*kind).into())))
        .collect();
    assert!(missing.is_empty(), "no object of {missing:?} was compared");
}

/// Lists a resource in both encodings, compares the objects that did not change in between, and
/// returns their number.
async fn compare(client: &Client, resource: &ServedResource, layout: Layout) -> usize {
    let ServedResource {
        kind, path, plural, ..
    } = resource;
    let path = format!("{path}/{plural}");
    let json = get(client, &path, "application/json").await;
    let protobuf = get(client, &path, "application/vnd.kubernetes.protobuf").await;
    let json_records = from_json(kind, &json);
    let mut compared = 0;
    for (key, record) in from_protobuf(kind, layout, &protobuf) {
        let Some(other) = json_records.get(&key) else {
            continue;
        };
        if !is_same_revision(&record, other) {
            continue;
        }
        assert_eq!(record.to_value(), other.to_value(), "{kind} {key}");
        assert_eq!(record, *other, "{kind} {key} in another order");
        assert_eq!(record.field_hash(), other.field_hash(), "{kind} {key}");
        compared += 1;
    }
    compared
}

fn is_same_revision(left: &Record, right: &Record) -> bool {
    let revision = left.resource_version();
    !revision.is_empty() && revision == right.resource_version()
}

async fn discover(client: &Client) -> Vec<ServedResource> {
    let groups = read(client, "/apis").await;
    let versions = groups["groups"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|group| group["versions"].as_array().into_iter().flatten())
        .filter_map(|version| version["groupVersion"].as_str());
    let core = ("/api/v1".to_owned(), "v1");
    let paths = versions.map(|version| (format!("/apis/{version}"), version));
    let mut served = Vec::new();
    for (path, api_version) in [core].into_iter().chain(paths) {
        let list = read(client, &path).await;
        for resource in list["resources"].as_array().into_iter().flatten() {
            let text = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
            let verbs = resource["verbs"].as_array();
            if verbs.is_none_or(|verbs| !verbs.iter().any(|verb| verb == "list")) {
                continue;
            }
            served.push(ServedResource {
                kind: kind_of(api_version, &text("kind")),
                path: path.clone(),
                plural: text("name"),
                is_namespaced: resource["namespaced"] == true,
            });
        }
    }
    served
}

fn kind_of(api_version: &str, kind: &str) -> Kind {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Kind::new(group, version, kind)
}

async fn apply(cluster: &Cluster, served: &[ServedResource], object: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = kind_of(&text(&object["apiVersion"]), &text(&object["kind"]));
    let resource = served
        .iter()
        .find(|resource| resource.kind == kind)
        .expect("the server serves all kinds of the objects");
    let namespace = if resource.is_namespaced {
        format!("/namespaces/{}", cluster.namespace())
    } else {
        String::new()
    };
    let name = text(&object["metadata"]["name"]);
    let path = format!(
        "{}{namespace}/{}/{name}?fieldManager=proto&force=true",
        resource.path, resource.plural
    );
    // Some need objects that a controller creates, such as the default ServiceAccount.
    cluster
        .eventually(format!("{kind} {name} is applied"), async |c| {
            let request = Request::patch(&path)
                .header("content-type", "application/apply-patch+yaml")
                .body(object.to_string().into_bytes())
                .expect("a valid request");
            c.client().request::<Value>(request).await.is_ok()
        })
        .await;
}

async fn read(client: &Client, path: &str) -> Value {
    let body = get(client, path, "application/json").await;
    serde_json::from_slice(&body).expect("the response is JSON")
}

async fn get(client: &Client, path: &str, accept: &str) -> Vec<u8> {
    let request = Request::get(path)
        .header("accept", accept)
        .body(Body::empty())
        .expect("a valid request");
    let response = client.send(request).await.expect("a response");
    assert!(
        response.status().is_success(),
        "{path}: {}",
        response.status()
    );
    let body = response.into_body().collect().await;
    body.expect("the whole body arrives").to_bytes().to_vec()
}

fn encoder(kind: &Kind) -> Encoder {
    Encoder::new(EncoderOptions {
        field_manager: Some("proto".to_owned()),
        kind: Some(kind.clone()),
    })
}

fn from_json(kind: &Kind, body: &[u8]) -> BTreeMap<String, Record> {
    let (mut encoder, mut records) = (encoder(kind), BTreeMap::new());
    let mut scanner = ListScanner::new(1 << 24);
    let scanned = scanner.push(body, |item| {
        if let Item::Whole(bytes) = item {
            let record = encoder.encode(bytes).expect("the object is JSON");
            records.insert(record.key().to_string(), record);
        }
        Ok::<_, ScanError>(())
    });
    scanned.expect("the body is a list");
    scanner.finish().expect("the list has an end");
    records
}

fn from_protobuf(kind: &Kind, layout: Layout, body: &[u8]) -> BTreeMap<String, Record> {
    let (mut encoder, mut records) = (encoder(kind), BTreeMap::new());
    let mut scanner = MessageScanner::new(1 << 24);
    let scanned = scanner.push(body, |item| {
        if let Item::Whole(bytes) = item {
            let record = encoder.encode_protobuf(layout, bytes);
            let record = record.expect("the object is protobuf");
            records.insert(record.key().to_string(), record);
        }
        Ok::<_, ScanError>(())
    });
    scanned.expect("the body is a list");
    scanner.finish().expect("the list has an end");
    records
}
