//! The scale subresource.

use kubewright_apiserver::{Server, ServerOptions};
use serde_json::{Value, json};

use crate::client::Client;

const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";

async fn world() -> (Server, Client) {
    let server = Server::new(ServerOptions::default());
    let admin = Client::admin(&server);
    let labels = json!({"app": "web"});
    let set = json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [
                {"name": "c", "image": "i"},
            ]}},
        },
    });
    admin.post(SETS, &set).await.ok();
    (server, admin)
}

#[tokio::test(start_paused = true)]
async fn scale_reads_and_writes_replicas() {
    let (_server, admin) = world().await;
    let path = format!("{SETS}/web/scale");
    let scale = admin.get(&path).await.ok();
    assert_eq!(scale["kind"], "Scale");
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"]["selector"], "app=web");
    let scaled = admin
        .merge(&path, &json!({"spec": {"replicas": 5}}))
        .await
        .ok();
    assert_eq!(scaled["spec"]["replicas"], 5);
    let set = admin.get(&format!("{SETS}/web")).await.ok();
    assert_eq!(set["spec"]["replicas"], 5);
    assert_eq!(set["metadata"]["generation"], 2);
    let entries = set["metadata"]["managedFields"]
        .as_array()
        .expect("entries");
    let mine: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["subresource"] == "scale")
        .collect();
    assert_eq!(mine.len(), 1);
    assert_eq!(mine[0]["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!(mine[0].get("time"), None);
}

#[tokio::test(start_paused = true)]
async fn negative_scale_is_invalid_and_outdated_scale_is_a_conflict() {
    let (_server, admin) = world().await;
    let path = format!("{SETS}/web/scale");
    assert_eq!(
        admin
            .merge(&path, &json!({"spec": {"replicas": -1}}))
            .await
            .failure(),
        (
            422,
            "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be \
             greater than or equal to 0"
        )
    );
    let stale = json!({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 3}});
    assert_eq!(admin.merge(&path, &stale).await.code, 409);
}
