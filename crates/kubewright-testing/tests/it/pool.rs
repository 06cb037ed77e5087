//! A pooled control plane is clean for the next test.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod};
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use k8s_openapi::api::resource::v1::DeviceClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_testing::{Cluster, ClusterBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object is of its kind")
}

fn stray_role() -> Role {
    object(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": { "name": "stray" }, "rules": [],
    }))
}

fn stray_lease() -> Lease {
    object(json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "stray" },
        "spec": {},
    }))
}

/// An object of a kind that the clean-up does not mention.
fn stray_device_class() -> DeviceClass {
    object(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": { "name": "stray" }, "spec": {},
    }))
}

/// Creates one object of each kind that a test may leave behind, some of them with finalizers.
async fn create_leftovers(cluster: &Cluster) {
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
    for namespace in ["kube-system", "kube-public", "kube-node-lease"] {
        cluster.in_namespace(namespace).create(stray_role()).await;
    }
    cluster.in_namespace("default").create(stray_lease()).await;
    cluster.create(stray_device_class()).await;
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

/// Uses a control plane twice, and checks that nothing of the first use is left for the second.
async fn check_cleaned(builder: ClusterBuilder) {
    let start = async || builder.clone().start_or_skip().await.expect("a cluster");
    let Some(first) = start().await else { return };
    let (processes, namespace) = (first.process_ids(), first.namespace().to_owned());
    create_leftovers(&first).await;
    first.close().await.expect("the objects are removed");
    drop(first);

    let second = start().await.expect("Go was there a moment ago");
    assert_eq!(
        second.process_ids(),
        processes,
        "the control plane is used again"
    );
    assert!(second.get::<Namespace>(&namespace).await.is_none());
    assert!(
        second
            .in_namespace("default")
            .get::<ConfigMap>("stray")
            .await
            .is_none()
    );
    for namespace in ["kube-system", "kube-public", "kube-node-lease"] {
        let cluster = second.in_namespace(namespace);
        assert!(cluster.get::<Role>("stray").await.is_none(), "{namespace}");
    }
    let default = second.in_namespace("default");
    assert!(default.get::<Lease>("stray").await.is_none());
    assert!(second.get::<DeviceClass>("stray").await.is_none());
    assert!(second.get::<Node>("bare").await.is_none());
    assert!(second.get::<ClusterRole>("mine").await.is_none());
    assert!(second.get::<ClusterRole>("cluster-admin").await.is_some());
    assert!(second.list::<CustomResourceDefinition>().await.is_empty());
    second.close().await.expect("there is nothing to clean");
}

// Unique options give each of these tests a control plane that no other test uses.

#[tokio::test(flavor = "multi_thread")]
async fn control_plane_without_controllers_is_clean_for_the_next_test() {
    check_cleaned(
        Cluster::real()
            .named("mess")
            .api_server_flag("--event-ttl=58m"),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn control_plane_with_controllers_is_clean_for_the_next_test() {
    let builder = Cluster::real().controllers().named("mess");
    check_cleaned(builder.api_server_flag("--event-ttl=59m")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn error_names_a_dead_process_and_its_control_plane_is_not_used_again() {
    let start = || {
        let builder = Cluster::real().named("dies");
        builder.api_server_flag("--event-ttl=57m").start_or_skip()
    };
    let Some(first) = start().await.expect("a cluster") else {
        return;
    };
    let processes = first.process_ids();
    let killed = std::process::Command::new("kill")
        .args(["-9", &processes[1].to_string()])
        .status();
    assert!(killed.expect("there is a kill").success());
    first
        .eventually("a failing request", async |c| {
            c.client().apiserver_version().await.is_err()
        })
        .await;
    let error = first.close().await.expect_err("it died").to_string();
    assert!(
        error.starts_with("wait for kube-apiserver to run: it ended with signal: 9"),
        "{error}"
    );
    drop(first);
    let second = start().await.expect("a cluster");
    let second = second.expect("Go was there a moment ago");
    assert_ne!(second.process_ids(), processes);
    second.close().await.expect("there is nothing to clean");
}
