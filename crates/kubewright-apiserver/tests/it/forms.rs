//! Tables and metadata-only representations.

use kubewright_apiserver::{Server, ServerOptions};
use kubewright_core::Clock;
use serde_json::{Value, json};

use crate::client::Client;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn server() -> Server {
    let beginning = "2026-01-01T00:00:00Z".parse().expect("a time");
    Server::new(ServerOptions {
        clock: Clock::starting_at(beginning),
        ..ServerOptions::default()
    })
}

fn accepting(server: &Server, accept: &str) -> Client {
    Client::admin(server).with_header("accept", accept)
}

fn names(table: &Value) -> Vec<&str> {
    let columns = table["columnDefinitions"].as_array().expect("columns");
    let names = columns.iter().map(|column| column["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

#[tokio::test(start_paused = true)]
async fn table_has_the_columns_of_the_kind_and_a_row_for_each_object() {
    let server = server();
    let admin = Client::admin(&server);
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "v", "l": "w"}});
    admin.post(MAPS, &map).await.ok();
    tokio::time::advance(std::time::Duration::from_secs(125)).await;
    let tables = accepting(&server, TABLE);
    let table = tables.get(MAPS).await.ok();
    assert_eq!(table["kind"], "Table");
    assert_eq!(names(&table), ["Name", "Data", "Age"]);
    assert_eq!(table["rows"][0]["cells"], json!(["a", 2, "2m5s"]));
    let object = &table["rows"][0]["object"];
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert_eq!(object["metadata"]["name"], "a");
    let one = tables
        .get(&format!("{MAPS}/a?includeObject=Object"))
        .await
        .ok();
    assert_eq!(one["rows"][0]["object"]["data"]["l"], "w");
    let none = tables
        .get(&format!("{MAPS}/a?includeObject=None"))
        .await
        .ok();
    assert_eq!(none["rows"][0]["object"], Value::Null);
    let wrong = tables.get(&format!("{MAPS}?includeObject=All")).await;
    assert_eq!(wrong.code, 400);
}

#[tokio::test(start_paused = true)]
async fn partial_object_metadata_has_only_metadata() {
    let server = server();
    let admin = Client::admin(&server);
    let map = json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v"}});
    admin.post(MAPS, &map).await.ok();
    let accept = |kind: &str| format!("application/json;as={kind};v=v1;g=meta.k8s.io");
    let one = accepting(&server, &accept("PartialObjectMetadata"));
    let many = accepting(&server, &accept("PartialObjectMetadataList"));
    let object = one.get(&format!("{MAPS}/a")).await.ok();
    assert_eq!(object["metadata"]["labels"], json!({"x": "y"}));
    assert_eq!(object.get("data"), None);
    let list = many.get(MAPS).await.ok();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert_eq!(
        one.get(MAPS).await.failure(),
        (
            406,
            "you requested PartialObjectMetadata, but the requested object is a list \
             (*core.ConfigMapList)"
        )
    );
    assert_eq!(many.get(&format!("{MAPS}/a")).await.code, 406);
}

#[tokio::test(start_paused = true)]
async fn watch_of_tables_sends_the_columns_once() {
    let server = server();
    let admin = Client::admin(&server);
    for name in ["a", "b"] {
        admin
            .post(MAPS, &json!({"metadata": {"name": name}}))
            .await
            .ok();
    }
    let watch = accepting(&server, TABLE);
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1");
    let events = watch.events(&path).await;
    let tables: Vec<&Value> = events.iter().map(|event| &event["object"]).collect();
    assert_eq!(tables.len(), 2);
    assert_eq!(names(tables[0]), ["Name", "Data", "Age"]);
    assert_eq!(tables[1]["columnDefinitions"], Value::Null);
    assert_eq!(tables[1]["rows"][0]["cells"][0], "b");
}
