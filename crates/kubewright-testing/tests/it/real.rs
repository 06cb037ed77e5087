//! A real cluster.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kubewright_testing::{Cluster, User};
use serde_json::{Value, json};

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object is of its kind")
}

fn deployment(replicas: usize) -> Deployment {
    object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": {
                    "containers": [{ "name": "web", "image": "web:1" }],
                    "topologySpreadConstraints": [{
                        "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": { "matchLabels": { "app": "web" } },
                    }],
                },
            },
        },
    }))
}

#[kubewright_testing::test(cluster = real, nodes = 3)]
async fn deployment_rolls_out_on_three_nodes(cluster: Cluster) {
    cluster.apply(deployment(3)).await;
    cluster
        .eventually("three available replicas", async |c| {
            let web = c.get::<Deployment>("web").await.and_then(|web| web.status);
            web.is_some_and(|status| status.available_replicas == Some(3))
        })
        .await;
    let nodes = cluster.list::<Pod>().await;
    let nodes = nodes
        .iter()
        .filter_map(|pod| pod.spec.as_ref()?.node_name.clone());
    let nodes: std::collections::BTreeSet<_> = nodes.collect();
    assert_eq!(
        nodes.into_iter().collect::<Vec<_>>(),
        ["node-1", "node-2", "node-3"]
    );
}

#[kubewright_testing::test(cluster = real, nodes = 1)]
async fn changed_image_restarts_the_container(cluster: Cluster) {
    let pod = |image: &str| {
        object::<Pod>(json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web" },
            "spec": { "containers": [
                { "name": "web", "image": image }, { "name": "side", "image": "side:1" },
            ] },
        }))
    };
    cluster.apply(pod("web:1")).await;
    let restarts = async |c: &Cluster, name: &str| {
        let pod = c.get::<Pod>("web").await?;
        let statuses = pod.status?.container_statuses?;
        let status = statuses.into_iter().find(|status| status.name == name)?;
        Some((status.restart_count, status.image_id))
    };
    cluster
        .eventually("a running Pod", async |c| {
            restarts(c, "web").await.is_some()
        })
        .await;
    let (_, before) = restarts(&cluster, "web").await.expect("the Pod runs");
    for (count, image) in [(1, "web:2"), (2, "web:3")] {
        cluster.apply(pod(image)).await;
        cluster
            .eventually(format!("restart {count}"), async |c| {
                let web = restarts(c, "web").await;
                web.is_some_and(|(restarts, id)| restarts == count && id != before)
            })
            .await;
    }
    let (side, _) = restarts(&cluster, "side").await.expect("the Pod runs");
    assert_eq!(side, 0);
}

#[kubewright_testing::test(cluster = real, nodes = 1)]
async fn removed_node_is_removed_with_its_pods(cluster: Cluster) {
    cluster.add_node("extra").await;
    cluster
        .apply(object::<Pod>(json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web" },
            "spec": { "nodeName": "extra", "containers": [{ "name": "web", "image": "web:1" }] },
        })))
        .await;
    cluster.remove_node("extra").await;
    assert!(cluster.get::<Node>("extra").await.is_none());
    cluster
        .eventually("no Pod", async |c| c.list::<Pod>().await.is_empty())
        .await;
}

#[kubewright_testing::test(cluster = real)]
async fn user_has_only_the_permissions_of_its_groups(cluster: Cluster) {
    let master = User::new("jane", ["one", "two", "system:masters"]);
    let unprivileged = User::new("joe", ["one"]);
    let path = format!("/api/v1/namespaces/{}/pods", cluster.namespace());
    for (user, allowed) in [(master, true), (unprivileged, false)] {
        let client = cluster.client_for(&user).await.expect("a client");
        let request = http::Request::get(&path)
            .body(Vec::new())
            .expect("a request");
        assert_eq!(
            client.request::<Value>(request).await.is_ok(),
            allowed,
            "{}",
            user.name
        );
    }
}

#[kubewright_testing::test(cluster = real)]
async fn timeout_shows_the_objects_that_were_read(cluster: Cluster) {
    let waiting = cluster.eventually_within(Duration::from_millis(200), "a moon", async |c| {
        c.get::<ConfigMap>("moon").await.is_some()
    });
    let panic = std::panic::AssertUnwindSafe(waiting);
    let panic = futures_util::FutureExt::catch_unwind(panic)
        .await
        .expect_err("there is no moon");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(
        message.contains("for a moon; last seen: ConfigMap not there"),
        "{message}"
    );
    assert!(message.contains("real.rs"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn error_of_a_failed_start_shows_the_command_and_the_log() {
    let started = Cluster::real()
        .dedicated()
        .api_server_flag("--moon=full")
        .start_or_skip()
        .await;
    let error = match started {
        Ok(None) => return,
        Ok(Some(_)) => panic!("there is no such flag"),
        Err(error) => error.to_string(),
    };
    assert!(
        error.starts_with("wait for kube-apiserver to run: it ended with exit status: 1"),
        "{error}"
    );
    assert!(
        error.contains("kube-apiserver --etcd-servers=https://127.0.0.1:"),
        "{error}"
    );
    assert!(error.contains("unknown flag: --moon"), "{error}");
}
