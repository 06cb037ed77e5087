//! The versions of a set, and the injection of an older one.

use k8s_openapi::api::apps::v1::ControllerRevision;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SET_LABEL, SidecarSet, operator};

use crate::fixtures::{
    IMAGE, NAMESPACE, NEW_IMAGE, container, create_active_set, dry_run, pod, pod_with, sample,
    wait_until_observed,
};

/// Returns the number and the custom version of each revision of the set.
async fn revisions(cluster: &Cluster, set: &str) -> Vec<(i64, String)> {
    let own_namespace = cluster.in_namespace(NAMESPACE);
    let revisions = own_namespace.list::<ControllerRevision>().await;
    let version = |revision: &ControllerRevision| {
        let version = revision.labels().get(CUSTOM_VERSION_LABEL).cloned();
        (revision.revision, version.unwrap_or_default())
    };
    let mut versions: Vec<_> = revisions
        .iter()
        .filter(|revision| {
            revision
                .labels()
                .get(SET_LABEL)
                .is_some_and(|name| name == set)
        })
        .map(version)
        .collect();
    versions.sort();
    versions
}

/// Updates the set to this image tag and custom version.
async fn update_version(cluster: &Cluster, name: &str, tag: &str, version: &str) {
    let image = format!("registry.k8s.io/pause:{tag}");
    let spec = json!({"customVersion": version, "containers": [{"name": "side", "image": image}]});
    let set = cluster
        .patch::<SidecarSet>(name, json!({"spec": spec}))
        .await;
    wait_until_observed(cluster, &set).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn revision_history_limit_deletes_revisions_that_no_pod_has(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "revisions";
    create_active_set(&cluster, sample("rows/revisions")).await;
    update_version(&cluster, name, "3.9", "two").await;
    let expected = [(1, "one".to_owned()), (2, "two".to_owned())];
    cluster
        .eventually("both versions are kept", async |c| {
            revisions(c, name).await == expected
        })
        .await;
    // A new Pod gets the version that the injection strategy names.
    let inject = |strategy: Value| json!({"spec": {"injectionStrategy": strategy}});
    let older = json!({"revision": {"customVersion": "one"}});
    cluster.patch::<SidecarSet>(name, inject(older)).await;
    cluster
        .eventually("a new Pod gets the older version", async |c| {
            c.delete::<Pod>("a").await;
            if c.get::<Pod>("a").await.is_some() {
                return false;
            }
            let created = c.create(pod("a", name)).await;
            container(&created, "side")["image"] == IMAGE
        })
        .await;
    cluster.patch::<SidecarSet>(name, inject(Value::Null)).await;
    // The Pod has the first version, so that the second one is deleted.
    update_version(&cluster, name, "3.8", "three").await;
    let expected = [(1, "one".to_owned()), (3, "three".to_owned())];
    cluster
        .eventually("the version that no Pod has is deleted", async |c| {
            revisions(c, name).await == expected
        })
        .await;
    // A reverted set raises the number of the old revision.
    update_version(&cluster, name, "3.10", "one").await;
    let expected = [(3, "three".to_owned()), (4, "one".to_owned())];
    cluster
        .eventually("the first one is the latest", async |c| {
            revisions(c, name).await == expected
        })
        .await;
    cluster.delete::<SidecarSet>(name).await;
}

/// A new Pod gets the version that the roll-out would leave it with.
#[kubewright_testing::test(nodes = 1)]
async fn partial_revision_policy_follows_the_update_strategy(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "revision-partial";
    create_active_set(&cluster, sample("rows/revision-partial")).await;
    update_version(&cluster, name, "3.9", "two").await;
    let injected_image = async |c: &Cluster, tier: &str| {
        let labels = json!({"labels": {"tier": tier}});
        let pod = pod_with("a", name, labels, json!({}));
        let created = dry_run(c, c.namespace(), &pod).await.expect("a Pod");
        container(&created, "side")["image"].clone()
    };
    for (tier, expected) in [("test", NEW_IMAGE), ("live", IMAGE)] {
        cluster
            .eventually(format!("a Pod of tier {tier} gets {expected}"), async |c| {
                injected_image(c, tier).await == expected
            })
            .await;
    }
    // While the roll-out is paused, all Pods get the named version.
    let paused = json!({"spec": {"updateStrategy": {"paused": true}}});
    cluster.patch::<SidecarSet>(name, paused).await;
    cluster
        .eventually("all Pods get the older version", async |c| {
            injected_image(c, "test").await == IMAGE
        })
        .await;
}
