//! The versions of a set, and going back to one.

use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SET_LABEL, SidecarSet, operator};

use crate::world::{IMAGE, NAMESPACE, NEWER, active, container, pod, pod_with, sample, seen};

async fn held(cluster: &Cluster, set: &str) -> Vec<(i64, String)> {
    let all = cluster.in_namespace(NAMESPACE);
    let revisions = all.list::<ControllerRevision>().await;
    let own = revisions
        .iter()
        .filter(|one| one.labels().get(SET_LABEL).is_some_and(|name| name == set));
    let version = |one: &ControllerRevision| {
        let version = one.labels().get(CUSTOM_VERSION_LABEL).cloned();
        (one.revision, version.unwrap_or_default())
    };
    let mut held: Vec<_> = own.map(version).collect();
    held.sort();
    held
}

async fn version(cluster: &Cluster, name: &str, (tag, version): (&str, &str)) {
    let image = format!("registry.k8s.io/pause:{tag}");
    let spec = json!({"customVersion": version, "containers": [{"name": "side", "image": image}]});
    let set = cluster
        .patch::<SidecarSet>(name, json!({"spec": spec}))
        .await;
    seen(cluster, &set).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_revision_history_limit_and_custom_version(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "revisions";
    active(&cluster, sample("rows/revisions")).await;
    version(&cluster, name, ("3.9", "two")).await;
    let wanted = [(1, "one".to_owned()), (2, "two".to_owned())];
    cluster
        .eventually("both versions are kept", async |c| {
            held(c, name).await == wanted
        })
        .await;
    // A new Pod gets an older version, the status names the latest.
    let inject = |strategy: Value| json!({"spec": {"injectionStrategy": strategy}});
    let older = json!({"revision": {"customVersion": "one"}});
    cluster.patch::<SidecarSet>(name, inject(older)).await;
    cluster
        .eventually("a new Pod gets the older version", async |c| {
            c.delete::<Pod>("a").await;
            if c.get::<Pod>("a").await.is_some() {
                return false;
            }
            let made = c.create(pod("a", name)).await;
            container(&made, "side")["image"] == IMAGE
        })
        .await;
    cluster.patch::<SidecarSet>(name, inject(Value::Null)).await;
    // The Pod has the first version, so that the second goes.
    version(&cluster, name, ("3.8", "three")).await;
    let wanted = [(1, "one".to_owned()), (3, "three".to_owned())];
    cluster
        .eventually("the one that nobody has goes", async |c| {
            held(c, name).await == wanted
        })
        .await;
    // Going back raises the number.
    version(&cluster, name, ("3.10", "one")).await;
    let wanted = [(3, "three".to_owned()), (4, "one".to_owned())];
    cluster
        .eventually("the first one is the latest", async |c| {
            held(c, name).await == wanted
        })
        .await;
    cluster.delete::<SidecarSet>(name).await;
}

/// A new Pod gets what the roll-out would leave it with.
#[kubewright_testing::test(nodes = 1)]
async fn row_injection_strategy_revision_partial(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "revision-partial";
    active(&cluster, sample("rows/revision-partial")).await;
    version(&cluster, name, ("3.9", "two")).await;
    let tried = async |c: &Cluster, tier: &str| {
        let params = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let labels = json!({"labels": {"tier": tier}});
        let pods: Api<Pod> = Api::namespaced(c.client(), c.namespace());
        let pod = pod_with("a", name, labels, json!({}));
        let made = pods.create(&params, &pod).await.expect("the Pod is taken");
        container(&made, "side")["image"].clone()
    };
    for (tier, wanted) in [("test", NEWER), ("live", IMAGE)] {
        cluster
            .eventually(format!("a Pod of tier {tier} gets {wanted}"), async |c| {
                tried(c, tier).await == wanted
            })
            .await;
    }
    // Nothing is rolled out while it is paused: all get the one that is named.
    let paused = json!({"spec": {"updateStrategy": {"paused": true}}});
    cluster.patch::<SidecarSet>(name, paused).await;
    cluster
        .eventually("all get the older one", async |c| {
            tried(c, "test").await == IMAGE
        })
        .await;
}
