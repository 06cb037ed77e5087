//! Lists: selectors, pages, past states, encodings.

use http::Request;
use http_body_util::{BodyExt as _, Full};
use kubewright_apiserver::{Server, ServerOptions};
use serde_json::{Value, json};

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn three(client: &Client) {
    for (name, tier) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let body = json!({"metadata": {"name": name, "labels": {"tier": tier}}});
        assert_eq!(client.post(MAPS, body).await.code, 201);
    }
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn list_items_of_built_in_kinds_have_no_kind() {
    let client = Client::admin(&server());
    three(&client).await;
    let list = client.get(MAPS).await;
    assert_eq!(list.body["kind"], "ConfigMapList");
    assert_eq!(names(&list.body), ["a", "b", "c"]);
    assert!(list.body["items"][0].get("kind").is_none());
    let empty = client
        .get("/api/v1/namespaces/kube-public/configmaps")
        .await;
    assert_eq!(empty.body["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn lists_are_filtered_by_label_and_field_selectors() {
    let client = Client::admin(&server());
    three(&client).await;
    let chosen = client.get(&format!("{MAPS}?labelSelector=tier%3Dx")).await;
    assert_eq!(names(&chosen.body), ["a", "c"]);
    let chosen = client
        .get(&format!("{MAPS}?fieldSelector=metadata.name%21%3Da"))
        .await;
    assert_eq!(names(&chosen.body), ["b", "c"]);
    let bad = client.get(&format!("{MAPS}?labelSelector=a%20b")).await;
    assert_eq!(bad.code, 400);
    let bad = client
        .get(&format!("{MAPS}?fieldSelector=data.k%3D1"))
        .await;
    assert_eq!(bad.code, 400);
}

#[tokio::test(start_paused = true)]
async fn pages_of_a_list_show_one_state() {
    let client = Client::admin(&server());
    three(&client).await;
    let first = client.get(&format!("{MAPS}?limit=2")).await;
    assert_eq!(names(&first.body), ["a", "b"]);
    assert_eq!(first.body["metadata"]["remainingItemCount"], 1);
    let token = first.body["metadata"]["continue"].as_str().unwrap();
    client.delete(&format!("{MAPS}/c"), json!({})).await;
    let rest = client
        .get(&format!("{MAPS}?limit=2&continue={token}"))
        .await;
    assert_eq!(names(&rest.body), ["c"]);
    assert!(rest.body["metadata"].get("continue").is_none());
    assert_eq!(
        rest.body["metadata"]["resourceVersion"],
        first.body["metadata"]["resourceVersion"]
    );
    let bad = client.get(&format!("{MAPS}?continue=x")).await;
    assert_eq!(bad.code, 400);
}

#[tokio::test(start_paused = true)]
async fn list_at_a_future_revision_times_out() {
    let client = Client::admin(&server());
    let begin = tokio::time::Instant::now();
    let late = client.get(&format!("{MAPS}?resourceVersion=999999")).await;
    assert_eq!(late.code, 504, "{}", late.text);
    assert!(
        late.message()
            .starts_with("Timeout: Too large resource version: 999999, current: "),
        "{}",
        late.message()
    );
    assert_eq!(begin.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn exact_list_shows_a_past_state() {
    let client = Client::admin(&server());
    three(&client).await;
    let then = client.get(MAPS).await;
    let revision = then.body["metadata"]["resourceVersion"].as_str().unwrap();
    client.delete(&format!("{MAPS}/a"), json!({})).await;
    let query = format!("{MAPS}?resourceVersion={revision}&resourceVersionMatch=Exact");
    assert_eq!(client.get(&query).await.body, then.body);
}

#[tokio::test(start_paused = true)]
async fn response_is_yaml_when_accepted() {
    let client = Client::admin(&server());
    three(&client).await;
    let response = client
        .accept(&format!("{MAPS}/a"), "application/yaml")
        .await;
    assert_eq!(response.headers["content-type"], "application/yaml");
    assert!(
        response.text.contains("kind: ConfigMap"),
        "{}",
        response.text
    );
}

#[tokio::test(start_paused = true)]
async fn large_list_is_compressed_when_accepted() {
    use std::io::Read as _;

    let server = server();
    let client = Client::admin(&server);
    let text = "x".repeat(10_000);
    for number in 0..20 {
        let map = json!({"metadata": {"name": format!("m{number}")}, "data": {"k": text}});
        client.post(MAPS, map).await;
    }
    let plain = client.get(MAPS).await;
    assert_eq!(plain.headers.get("content-encoding"), None);
    let request = Request::get(MAPS)
        .header("accept-encoding", "gzip")
        .body(Full::default())
        .expect("a request");
    let response = client.open(request).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let bytes = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    assert!(bytes.len() < 50_000);
    let mut read = String::new();
    flate2::read::GzDecoder::new(&*bytes)
        .read_to_string(&mut read)
        .expect("it is whole");
    assert_eq!(read, plain.text);
}

/// A server that remembers four writes, and two pieces of a list that were begun before five more.
#[tokio::test(start_paused = true)]
async fn expired_list_fails_with_410_and_a_token_for_the_current_state() {
    let client = Client::admin(&Server::new(ServerOptions {
        history: 4,
        ..ServerOptions::default()
    }));
    three(&client).await;
    let first = client.get(&format!("{MAPS}?limit=1")).await;
    let revision = first.body["metadata"]["resourceVersion"].as_str();
    let token = first.body["metadata"]["continue"].as_str();
    let (revision, token) = (revision.unwrap(), token.unwrap());
    for name in ["b2", "d", "e", "f", "g"] {
        client.post(MAPS, json!({"metadata": {"name": name}})).await;
    }
    let exact = format!("{MAPS}?resourceVersion={revision}&resourceVersionMatch=Exact");
    let gone = client.get(&exact).await;
    assert_eq!((gone.code, &gone.body["reason"]), (410, &json!("Expired")));
    assert_eq!(
        gone.message(),
        "The resourceVersion for the provided list is too old."
    );
    let gone = client
        .get(&format!("{MAPS}?limit=1&continue={token}"))
        .await;
    assert_eq!((gone.code, &gone.body["reason"]), (410, &json!("Expired")));
    assert!(gone.message().contains("continue parameter is too old"));
    let onward = gone.body["metadata"]["continue"].as_str().unwrap();
    let rest = client.get(&format!("{MAPS}?continue={onward}")).await;
    assert_eq!(names(&rest.body), ["b", "b2", "c", "d", "e", "f", "g"]);
}
