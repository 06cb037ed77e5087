//! A cluster without its operator.

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{SidecarSet, operator};

use crate::world::{IMAGE, active, asks_nobody, containers, pod, pod_with, read, set};

async fn tried(cluster: &Cluster, namespace: &str, pod: &Pod) -> Result<Pod, kube::Error> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let there: Api<Pod> = Api::namespaced(cluster.client(), namespace);
    there.create(&params, pod).await
}

/// The label of a Pod, and its namespace, decide whether anybody is asked.
#[kubewright_testing::test(nodes = 1)]
async fn with_the_operator_stopped_pods_that_no_set_is_for_are_created(cluster: Cluster) {
    cluster.run(operator).await;
    let here = cluster.namespace().to_owned();
    let other = format!("{here}-other");
    let namespace: Namespace = read(json!({"metadata": {"name": other}}));
    cluster.create(namespace).await;
    let only = json!({"namespaceSelector":
        {"matchLabels": {"kubernetes.io/metadata.name": here}}});
    active(&cluster, set("down", only)).await;
    cluster.stop_operator().await;

    let refused = tried(&cluster, &here, &pod("p", "down")).await;
    assert!(
        matches!(&refused, Err(kube::Error::Api(status)) if status.message.contains("webhook")),
        "{refused:?}"
    );
    for (namespace, set) in [
        (here.as_str(), "else"),
        (other.as_str(), "down"),
        ("default", "down"),
        ("kube-system", "down"),
        ("sidecarset-system", "down"),
    ] {
        // The account that a Pod needs may still be on its way.
        cluster
            .eventually(format!("a Pod is taken in {namespace}"), async |c| {
                let made = tried(c, namespace, &pod("p", set)).await;
                made.is_ok_and(|made| containers(&made) == ["app"])
            })
            .await;
    }
    cluster.delete::<Namespace>(&other).await;
}

/// Two sets whose selectors have no label in common: each is for its own namespace and its own
/// Pods, and nobody is asked about any other.
#[kubewright_testing::test(nodes = 1)]
async fn with_the_operator_stopped_sets_that_share_no_label_block_only_their_own_pods(
    cluster: Cluster,
) {
    cluster.run(operator).await;
    let here = cluster.namespace().to_owned();
    let [team, env, other] = ["team", "env", "other"].map(|one| format!("{here}-{one}"));
    for (name, label) in [(&team, "team"), (&env, "env"), (&other, "other")] {
        let labels = json!({label: here});
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        cluster.create::<Namespace>(read(namespace)).await;
    }
    for (name, label, namespace) in [("one", "team", &team), ("two", "env", &env)] {
        let selector = json!({"matchLabels": {name: "yes"}});
        let namespaces = json!({"matchLabels": {label: here}});
        let more = json!({"selector": selector, "namespaceSelector": namespaces,
            "containers": [{"name": name, "image": IMAGE}]});
        cluster.create(set(name, more)).await;
        cluster
            .eventually("Pods get the container", async |c| {
                let made = tried(c, namespace, &labelled(name)).await;
                made.is_ok_and(|made| containers(&made) == [name, "app"])
            })
            .await;
    }
    cluster.stop_operator().await;

    for (namespace, label) in [(&team, "one"), (&env, "two")] {
        let refused = tried(&cluster, namespace, &labelled(label)).await;
        assert!(
            matches!(&refused, Err(kube::Error::Api(status)) if status.message.contains("webhook")),
            "{refused:?}"
        );
    }
    for (namespace, label) in [
        (&team, "two"),
        (&env, "one"),
        (&other, "one"),
        (&other, "two"),
        (&here, "one"),
        (&here, "two"),
    ] {
        // The account that a Pod needs may still be on its way.
        cluster
            .eventually(format!("a Pod is taken in {namespace}"), async |c| {
                let made = tried(c, namespace, &labelled(label)).await;
                made.is_ok_and(|made| containers(&made) == ["app"])
            })
            .await;
    }
    for name in [&team, &env, &other] {
        cluster.delete::<Namespace>(name).await;
    }
}

fn labelled(label: &str) -> Pod {
    pod_with("p", "none", json!({"labels": {label: "yes"}}), json!({}))
}

/// Its manifests are applied, and nobody starts it.
#[kubewright_testing::test(nodes = 1)]
async fn an_operator_that_is_installed_and_never_runs_blocks_no_pod(cluster: Cluster) {
    cluster.install(operator).await;
    for namespace in [cluster.namespace(), "default", "kube-system"] {
        cluster
            .eventually(format!("a Pod is taken in {namespace}"), async |c| {
                let made = tried(c, namespace, &pod("p", "any")).await;
                made.is_ok_and(|made| containers(&made) == ["app"])
            })
            .await;
    }
    // It was really there: once it runs, it works.
    cluster.restart_operator().await;
    active(&cluster, set("later", json!({}))).await;
}

/// The last set goes, and then the operator.
#[kubewright_testing::test(nodes = 1)]
async fn without_sets_nobody_is_asked(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("last", json!({}))).await;
    cluster.delete::<SidecarSet>("last").await;
    cluster
        .eventually("the set has no Pods any more", async |c| {
            let made = tried(c, c.namespace(), &pod("p", "last")).await;
            made.is_ok_and(|made| containers(&made) == ["app"])
        })
        .await;
    // The server learns last whom to ask.
    cluster
        .eventually("the API server asks nobody", asks_nobody)
        .await;
    cluster.stop_operator().await;
    cluster
        .eventually("a Pod is taken", async |c| {
            tried(c, c.namespace(), &pod("p", "last")).await.is_ok()
        })
        .await;
}
