//! A cluster whose operator does not run: only Pods that a set selects are rejected.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{SidecarSet, operator};

use crate::fixtures::{
    IMAGE, containers, create_active_set, dry_run, from_json, has_no_scoped_webhooks, pod,
    pod_with, set,
};

#[kubewright_testing::test(nodes = 1)]
async fn pods_that_no_set_selects_are_created_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(operator).await;
    let here = cluster.namespace().to_owned();
    let other = format!("{here}-other");
    let namespace: Namespace = from_json(json!({"metadata": {"name": other}}));
    cluster.create(namespace).await;
    let selector = json!({"namespaceSelector":
        {"matchLabels": {"kubernetes.io/metadata.name": here}}});
    create_active_set(&cluster, set("down", selector)).await;
    cluster.stop_operator().await;

    let result = dry_run(&cluster, &here, &pod("p", "down")).await;
    assert!(
        matches!(&result, Err(kube::Error::Api(status)) if status.message.contains("webhook")),
        "{result:?}"
    );
    for (namespace, set) in [
        (here.as_str(), "else"),
        (other.as_str(), "down"),
        ("default", "down"),
        ("kube-system", "down"),
        ("sidecarset-system", "down"),
    ] {
        // The ServiceAccount of the Pod may not have been created yet.
        cluster
            .eventually(format!("a Pod is created in {namespace}"), async |c| {
                let pod = dry_run(c, namespace, &pod("p", set)).await;
                pod.is_ok_and(|pod| containers(&pod) == ["app"])
            })
            .await;
    }
    cluster.delete::<Namespace>(&other).await;
}

/// Both sets select a namespace and Pods of their own.
#[kubewright_testing::test(nodes = 1)]
async fn sets_without_a_common_label_block_only_their_own_pods_while_the_operator_is_down(
    cluster: Cluster,
) {
    cluster.run(operator).await;
    let here = cluster.namespace().to_owned();
    let [team, env, other] = ["team", "env", "other"].map(|name| format!("{here}-{name}"));
    for (name, label) in [(&team, "team"), (&env, "env"), (&other, "other")] {
        let labels = json!({label: here});
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        cluster.create::<Namespace>(from_json(namespace)).await;
    }
    for (name, label, namespace) in [("one", "team", &team), ("two", "env", &env)] {
        let selector = json!({"matchLabels": {name: "yes"}});
        let namespaces = json!({"matchLabels": {label: here}});
        let fields = json!({"selector": selector, "namespaceSelector": namespaces,
            "containers": [{"name": name, "image": IMAGE}]});
        cluster.create(set(name, fields)).await;
        cluster
            .eventually("Pods get the container", async |c| {
                let pod = dry_run(c, namespace, &labelled(name)).await;
                pod.is_ok_and(|pod| containers(&pod) == [name, "app"])
            })
            .await;
    }
    cluster.stop_operator().await;

    for (namespace, label) in [(&team, "one"), (&env, "two")] {
        let result = dry_run(&cluster, namespace, &labelled(label)).await;
        assert!(
            matches!(&result, Err(kube::Error::Api(status)) if status.message.contains("webhook")),
            "{result:?}"
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
        // The ServiceAccount of the Pod may not have been created yet.
        cluster
            .eventually(format!("a Pod is created in {namespace}"), async |c| {
                let pod = dry_run(c, namespace, &labelled(label)).await;
                pod.is_ok_and(|pod| containers(&pod) == ["app"])
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

#[kubewright_testing::test(nodes = 1)]
async fn operator_that_is_installed_and_never_started_blocks_no_pod(cluster: Cluster) {
    cluster.install(operator).await;
    for namespace in [cluster.namespace(), "default", "kube-system"] {
        cluster
            .eventually(format!("a Pod is created in {namespace}"), async |c| {
                let pod = dry_run(c, namespace, &pod("p", "any")).await;
                pod.is_ok_and(|pod| containers(&pod) == ["app"])
            })
            .await;
    }
    // It was installed: once it is started, it injects.
    cluster.restart_operator().await;
    create_active_set(&cluster, set("later", json!({}))).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn webhook_is_called_for_no_pod_after_the_last_set_is_deleted(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("last", json!({}))).await;
    cluster.delete::<SidecarSet>("last").await;
    cluster
        .eventually("the set is not injected any more", async |c| {
            let pod = dry_run(c, c.namespace(), &pod("p", "last")).await;
            pod.is_ok_and(|pod| containers(&pod) == ["app"])
        })
        .await;
    // A real API server loads changed webhooks with a delay.
    cluster
        .eventually("the webhook is called for no Pod", has_no_scoped_webhooks)
        .await;
    cluster.stop_operator().await;
    cluster
        .eventually("a Pod is created", async |c| {
            dry_run(c, c.namespace(), &pod("p", "last")).await.is_ok()
        })
        .await;
}
