use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod};
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_testing::{Cluster, ClusterBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object is of its kind")
}

/// Makes one of everything that a test may leave behind, held by finalizers where it can be.
async fn make_a_mess(cluster: &Cluster) {
    let finalizers = json!(["example.com/never"]);
    cluster
        .create(object::<ConfigMap>(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "held", "finalizers": finalizers },
        })))
        .await;
    cluster
        .in_namespace("default")
        .create(object::<ConfigMap>(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "stray" },
        })))
        .await;
    cluster
        .create(object::<Pod>(json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web" },
            "spec": { "containers": [{ "name": "web", "image": "web:1" }] },
        })))
        .await;
    cluster
        .create(object::<Node>(json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": "bare" },
        })))
        .await;
    cluster
        .create(object::<ClusterRole>(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": { "name": "mine" },
            "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }],
        })))
        .await;
    cluster
        .create(object::<CustomResourceDefinition>(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": "toys.example.com" },
            "spec": {
                "group": "example.com", "scope": "Cluster",
                "names": { "plural": "toys", "kind": "Toy" },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": { "openAPIV3Schema": { "type": "object" } },
                }],
            },
        })))
        .await;
    let toy = json!({
        "apiVersion": "example.com/v1", "kind": "Toy",
        "metadata": { "name": "bear", "finalizers": finalizers },
    });
    cluster
        .eventually("a toy", async |c| {
            let request = http::Request::post("/apis/example.com/v1/toys")
                .header("Content-Type", "application/json")
                .body(toy.to_string().into_bytes())
                .expect("a request");
            c.client().request::<Value>(request).await.is_ok()
        })
        .await;
}

/// Uses a control plane twice and checks that the second test finds it as the first did.
async fn is_left_as_it_was(builder: ClusterBuilder) {
    let start = async || builder.clone().start_or_skip().await.expect("a cluster");
    let Some(first) = start().await else { return };
    let (processes, messy) = (first.process_ids(), first.namespace().to_owned());
    make_a_mess(&first).await;
    first.close().await.expect("the mess is cleaned");
    drop(first);

    let second = start().await.expect("Go was there a moment ago");
    assert_eq!(
        second.process_ids(),
        processes,
        "the control plane is used again"
    );
    assert!(second.get::<Namespace>(&messy).await.is_none());
    assert!(
        second
            .in_namespace("default")
            .get::<ConfigMap>("stray")
            .await
            .is_none()
    );
    assert!(second.get::<Node>("bare").await.is_none());
    assert!(second.get::<ClusterRole>("mine").await.is_none());
    assert!(second.get::<ClusterRole>("cluster-admin").await.is_some());
    assert!(second.list::<CustomResourceDefinition>().await.is_empty());
    second.close().await.expect("there is nothing to clean");
}

// Options that no other test has give a control plane that no other test takes in between.

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane_without_controllers_is_clean_for_the_next_test() {
    is_left_as_it_was(
        Cluster::real()
            .named("mess")
            .api_server_flag("--event-ttl=58m"),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane_with_controllers_is_clean_for_the_next_test() {
    let builder = Cluster::real().controllers().named("mess");
    is_left_as_it_was(builder.api_server_flag("--event-ttl=59m")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_nodes_says_how_to_get_them() {
    let builder = Cluster::real().named("no-nodes");
    let Some(cluster) = builder.start_or_skip().await.expect("a cluster") else {
        return;
    };
    let adding = std::panic::AssertUnwindSafe(cluster.add_node("one"));
    let panic = futures_util::FutureExt::catch_unwind(adding)
        .await
        .expect_err("no nodes");
    let message = panic.downcast_ref::<String>().expect("a message").clone();
    cluster.close().await.expect("there is nothing to clean");
    assert!(message.ends_with("start it with nodes(n)"), "{message}");
}
