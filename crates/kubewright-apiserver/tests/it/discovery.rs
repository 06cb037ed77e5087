//! Discovery and health endpoints.

use kubewright_apiserver::User;
use serde_json::{Value, json};

use crate::client::{Client, server};

fn names<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter_map(|entry| entry[field].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn groups_versions_and_resources_are_listed() {
    let client = Client::new(&server(), User::new("bob", [""; 0]));
    let api = client.get("/api").await;
    assert_eq!(api.body["versions"], json!(["v1"]));
    let apis = client.get("/apis").await;
    assert!(names(&apis.body["groups"], "name").contains(&"apps"));
    let core = client.get("/api/v1").await;
    assert_eq!(core.body["kind"], "APIResourceList");
    let resources = names(&core.body["resources"], "name");
    for name in ["pods", "pods/status", "nodes", "serviceaccounts/token"] {
        assert!(resources.contains(&name), "{name}");
    }
    let apps = client.get("/apis/apps/v1").await;
    assert_eq!(apps.body["groupVersion"], "apps/v1");
    assert_eq!(client.get("/apis/apps").await.body["kind"], "APIGroup");
    assert_eq!(client.get("/apis/apps/v9").await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn aggregated_discovery_is_one_document_with_an_etag() {
    let client = Client::admin(&server());
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                  application/json";
    let response = client.accept("/apis", accept).await;
    assert_eq!(
        response.headers["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    assert_eq!(response.body["kind"], "APIGroupDiscoveryList");
    let etag = response.headers["etag"].to_str().unwrap().to_owned();
    let again = client
        .get_with("/apis", &[("accept", accept), ("if-none-match", &etag)])
        .await;
    assert_eq!(again.code, 304);
    assert_eq!(again.text, "");
}

#[tokio::test(start_paused = true)]
async fn health_endpoints_respond_with_plain_text() {
    let client = Client::new(&server(), User::new("bob", [""; 0]));
    for path in ["/healthz", "/livez", "/readyz"] {
        let response = client.get(path).await;
        assert_eq!(
            (response.code, response.text.as_str()),
            (200, "ok"),
            "{path}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn health_checks_are_listed_and_can_be_excluded() {
    let client = Client::admin(&server());
    for path in [
        "/healthz",
        "/livez",
        "/readyz",
        "/readyz/ping",
        "/livez/etcd",
    ] {
        let response = client.get(path).await;
        assert_eq!(
            (response.code, response.text.as_str()),
            (200, "ok"),
            "{path}"
        );
    }
    let checks = client.get("/livez?verbose&exclude=etcd&exclude=moon").await;
    assert_eq!(
        checks.text,
        "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be \
         excluded: no matches for \"moon\"\nlivez check passed\n"
    );
    let checks = client.get("/readyz?verbose").await;
    assert!(checks.text.starts_with("[+]ping ok\n"), "{}", checks.text);
    assert!(
        checks.text.ends_with("readyz check passed\n"),
        "{}",
        checks.text
    );
    for path in ["/readyz/moon", "/livez/shutdown", "/healthz/ping/more"] {
        let response = client.get(path).await;
        assert_eq!(
            (response.code, response.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
    }
}
