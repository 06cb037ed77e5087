//! A cluster without its operator.

use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{SidecarSet, operator};

use crate::world::{active, containers, pod, read, set};

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
        .eventually("the API server asks nobody", async |c| {
            let configuration = c
                .get::<k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration>(
                    "sidecarset",
                )
                .await;
            let text = json!(configuration).to_string();
            text.contains("DoesNotExist")
        })
        .await;
    cluster.stop_operator().await;
    cluster
        .eventually("a Pod is taken", async |c| {
            tried(c, c.namespace(), &pod("p", "last")).await.is_ok()
        })
        .await;
}
