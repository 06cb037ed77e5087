//! What a real API server sends in protobuf is what it sends as JSON, for each of its own kinds.

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

/// What is never in a list: kinds that are not stored.
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

/// A resource that the server offers.
struct Offered {
    kind: Kind,
    path: String,
    plural: String,
    is_namespaced: bool,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_gives_the_same_records_from_protobuf_as_from_json() {
    let cluster = Cluster::real().nodes(1).own();
    let cluster = cluster
        .named("every_kind_in_protobuf")
        .start_or_skip()
        .await;
    let Some(cluster) = cluster.expect("the cluster starts") else {
        return;
    };
    let client = cluster.client();
    let offered = discover(&client).await;
    let text = include_str!("../protobuf/objects.yaml");
    let text = text.replace("NAMESPACE", cluster.namespace());
    for object in yaml::documents(&text).expect("the objects are YAML") {
        apply(&cluster, &offered, &object).await;
    }
    let mut compared = BTreeSet::new();
    for one in &offered {
        let Some(layout) = Layouts::builtin().of_kind(&one.kind) else {
            continue;
        };
        if UNLISTED.contains(&one.kind.kind.as_str()) {
            continue;
        }
        cluster
            .eventually(format!("{} are compared", one.plural), async |c| {
                compare(&c.client(), one, layout).await > 0
            })
            .await;
        compared.insert((one.kind.api_version(), one.kind.kind.clone()));
    }
    cluster.close().await.expect("the cluster stops");
    let unseen: Vec<_> = Layouts::builtin()
        .kinds()
        .filter(|(_, kind)| !UNLISTED.contains(kind))
        .filter(|(version, kind)| !compared.contains(&((*version).into(), (*kind).into())))
        .collect();
    assert!(unseen.is_empty(), "no object of {unseen:?} was compared");
}

/// Lists a resource in both forms and compares what has not changed in between; answers how many
/// objects that were.
async fn compare(client: &Client, one: &Offered, layout: Layout) -> usize {
    let path = format!("{}/{}", one.path, one.plural);
    let json = get(client, &path, "application/json").await;
    let protobuf = get(client, &path, "application/vnd.kubernetes.protobuf").await;
    let json = from_json(&one.kind, &json);
    let mut compared = 0;
    for (key, record) in from_protobuf(&one.kind, layout, &protobuf) {
        let same = json.get(&key).filter(|other| is_same_state(other, &record));
        let Some(same) = same else { continue };
        assert_eq!(record.to_value(), same.to_value(), "{} {key}", one.kind);
        assert_eq!(record, *same, "{} {key} in another order", one.kind);
        assert_eq!(record.field_hash(), same.field_hash(), "{} {key}", one.kind);
        compared += 1;
    }
    compared
}

fn is_same_state(one: &Record, other: &Record) -> bool {
    let revision = one.resource_version();
    !revision.is_empty() && revision == other.resource_version()
}

async fn discover(client: &Client) -> Vec<Offered> {
    let groups = read(client, "/apis").await;
    let versions = groups["groups"].as_array().into_iter().flatten();
    let versions = versions.flat_map(|group| group["versions"].as_array().into_iter().flatten());
    let versions = versions.filter_map(|version| version["groupVersion"].as_str());
    let core = ("/api/v1".to_owned(), "v1");
    let paths = versions.map(|version| (format!("/apis/{version}"), version));
    let mut offered = Vec::new();
    for (path, api_version) in [core].into_iter().chain(paths) {
        let list = read(client, &path).await;
        for resource in list["resources"].as_array().into_iter().flatten() {
            let text = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
            let verbs = resource["verbs"].as_array();
            if verbs.is_none_or(|verbs| !verbs.iter().any(|verb| verb == "list")) {
                continue;
            }
            offered.push(Offered {
                kind: kind_of(api_version, &text("kind")),
                path: path.clone(),
                plural: text("name"),
                is_namespaced: resource["namespaced"] == true,
            });
        }
    }
    offered
}

fn kind_of(api_version: &str, kind: &str) -> Kind {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Kind::new(group, version, kind)
}

async fn apply(cluster: &Cluster, offered: &[Offered], object: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = kind_of(&text(&object["apiVersion"]), &text(&object["kind"]));
    let one = offered.iter().find(|one| one.kind == kind);
    let one = one.expect("the server offers every kind of the objects");
    let namespace = match one.is_namespaced {
        true => format!("/namespaces/{}", cluster.namespace()),
        false => String::new(),
    };
    let name = text(&object["metadata"]["name"]);
    let path = format!(
        "{}{namespace}/{}/{name}?fieldManager=proto&force=true",
        one.path, one.plural
    );
    // Some need what a controller makes first, such as the default ServiceAccount.
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
    serde_json::from_slice(&body).expect("the answer is JSON")
}

async fn get(client: &Client, path: &str, accept: &str) -> Vec<u8> {
    let request = Request::get(path).header("accept", accept);
    let request = request.body(Body::empty()).expect("a valid request");
    let answer = client.send(request).await.expect("the server answers");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    let body = answer.into_body().collect().await;
    body.expect("the answer is whole").to_bytes().to_vec()
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
