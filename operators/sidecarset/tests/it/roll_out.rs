//! How running Pods get newer containers: one test for each row of the API that is about it.

use std::time::Duration;

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, UPGRADABLE, operator, working};

use crate::world::{
    IMAGE, NEWER, active, change, container, images, newer, pod, pod_with, reason, running, sample,
    set, status,
};

const WHILE: Duration = Duration::from_secs(3);

async fn strategy(cluster: &Cluster, name: &str, strategy: Value) {
    let patch = json!({"spec": {"updateStrategy": strategy}});
    cluster.patch::<SidecarSet>(name, patch).await;
}

/// Waits until so many Pods have the newer image and the roll-out rests for this reason.
async fn rests(cluster: &Cluster, name: &str, (count, why): (usize, &str)) {
    cluster
        .eventually(format!("{count} are updated: {why}"), async |c| {
            newer(c).await == count && reason(c, name).await == why
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_update_strategy_type_and_paused(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "update-type";
    active(&cluster, sample("rows/update-type")).await;
    running(&cluster, [pod("a", name)]).await;
    change(&cluster, name, json!({})).await;
    rests(&cluster, name, (0, "NotUpdate")).await;
    strategy(
        &cluster,
        name,
        json!({"type": "RollingUpdate", "paused": true}),
    )
    .await;
    rests(&cluster, name, (0, "Paused")).await;
    strategy(&cluster, name, json!({"paused": null})).await;
    rests(&cluster, name, (1, "Complete")).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_partition_max_unavailable_and_selector(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "partition";
    active(&cluster, sample("rows/partition")).await;
    running(&cluster, ["a", "b", "c"].map(|one| pod(one, name))).await;
    change(&cluster, name, json!({})).await;
    rests(&cluster, name, (1, "Partition")).await;
    // The one that is updated gets unready: nobody else is touched until it is back.
    let images = images(&cluster, "side").await;
    let first = images.iter().find(|(_, image)| *image == NEWER);
    let first = first.expect("one is updated").0.clone();
    cluster.set_pod_ready(&first, false).await;
    strategy(&cluster, name, json!({"partition": 0})).await;
    rests(&cluster, name, (1, "WaitingForPods")).await;
    cluster
        .consistently(WHILE, "nobody else is touched", async |c| {
            newer(c).await == 1
        })
        .await;
    cluster.set_pod_ready(&first, true).await;
    rests(&cluster, name, (3, "Complete")).await;
    // Only those that are selected.
    strategy(
        &cluster,
        name,
        json!({"selector": {"matchLabels": {"no": "one"}}}),
    )
    .await;
    let back = json!({"spec": {"containers": [{"name": "side", "image": IMAGE}]}});
    cluster.patch::<SidecarSet>(name, back).await;
    rests(&cluster, name, (3, "Selector")).await;
    strategy(&cluster, name, json!({"selector": null})).await;
    rests(&cluster, name, (0, "Complete")).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_priority_strategy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/priority")).await;
    let tier = |tier: &str| json!({"labels": {"tier": tier}});
    let pods = [("a", "live"), ("b", "test"), ("c", "live")];
    let pods = pods.map(|(name, one)| pod_with(name, "priority", tier(one), json!({})));
    running(&cluster, pods).await;
    change(&cluster, "priority", json!({})).await;
    rests(&cluster, "priority", (1, "Partition")).await;
    assert_eq!(images(&cluster, "side").await["b"], NEWER);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_order_priority(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "order-priority";
    active(&cluster, sample("rows/order-priority")).await;
    let order = |order: &str| json!({"labels": {"order": order}});
    // Numbers, not text: the tenth comes before the ninth.
    let pods = [("a", "n-9"), ("b", "n-10"), ("c", "n-1")];
    let pods = pods.map(|(pod, one)| pod_with(pod, name, order(one), json!({})));
    running(&cluster, pods).await;
    change(&cluster, name, json!({})).await;
    rests(&cluster, name, (1, "Partition")).await;
    assert_eq!(images(&cluster, "side").await["b"], NEWER);
    strategy(&cluster, name, json!({"partition": 1})).await;
    rests(&cluster, name, (2, "Partition")).await;
    assert_eq!(images(&cluster, "side").await["a"], NEWER);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_update_strategy_selector(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "update-selector";
    active(&cluster, sample("rows/update-selector")).await;
    let tier = |tier: &str| json!({"labels": {"tier": tier}});
    let pods = [("a", "live"), ("b", "test"), ("c", "test")];
    let pods = pods.map(|(pod, one)| pod_with(pod, name, tier(one), json!({})));
    running(&cluster, pods).await;
    change(&cluster, name, json!({})).await;
    rests(&cluster, name, (2, "Selector")).await;
    let images = images(&cluster, "side").await;
    assert_eq!(
        ["a", "b", "c"].map(|pod| images[pod].as_str()),
        [IMAGE, NEWER, NEWER]
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn row_partition_in_percent(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "partition-percent";
    active(&cluster, sample("rows/partition-percent")).await;
    running(&cluster, ["a", "b", "c"].map(|one| pod(one, name))).await;
    change(&cluster, name, json!({})).await;
    // One and a half are two.
    rests(&cluster, name, (1, "Partition")).await;
    strategy(&cluster, name, json!({"partition": "34%"})).await;
    cluster
        .consistently(WHILE, "two are still kept", async |c| newer(c).await == 1)
        .await;
    strategy(&cluster, name, json!({"partition": "33%"})).await;
    rests(&cluster, name, (2, "Partition")).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_scatter_strategy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/scatter")).await;
    let zone = |zone: &str| json!({"labels": {"zone": zone}});
    let pods = [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")];
    let pods = pods.map(|(name, one)| pod_with(name, "scatter", zone(one), json!({})));
    running(&cluster, pods).await;
    change(&cluster, "scatter", json!({})).await;
    rests(&cluster, "scatter", (2, "Partition")).await;
    let images = images(&cluster, "side").await;
    let updated = images.iter().filter(|(_, image)| *image == NEWER);
    let mut zones: Vec<_> = updated.map(|(name, _)| name.chars().next()).collect();
    zones.sort_unstable();
    assert_eq!(zones, [Some('a'), Some('b')]);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_upgrade_strategy_hot(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "upgrade-strategy";
    active(&cluster, sample("rows/upgrade-strategy")).await;
    running(&cluster, [pod("a", name)]).await;
    change(&cluster, name, json!({})).await;
    cluster
        .eventually("the second container took over", async |c| {
            let pod = c.get::<Pod>("a").await.expect("the Pod");
            let image = |name: &str| container(&pod, name)["image"].clone();
            image("side-2") == NEWER
                && image("side-1") == "registry.k8s.io/pause:empty"
                && status(c, name).await.updated_ready_pods == 1
        })
        .await;
    let pod = cluster.get::<Pod>("a").await.expect("the Pod");
    assert_eq!(working(&pod)["side"], "side-2");
    let said = |key: &str| pod.annotations()[&format!("{key}.sidecarset.kruise.io/side-1")].clone();
    assert_eq!(said("version"), "0");
}

/// What kruise forbids: a sidecar of Kubernetes' own kind changes its image while it runs.
#[kubewright_testing::test(nodes = 1)]
async fn row_native_sidecars_are_updated_in_place(cluster: Cluster) {
    cluster.run(operator).await;
    let native = |image: &str| {
        json!({"initContainers":
            [{"name": "native", "image": image, "restartPolicy": "Always"}]})
    };
    active(&cluster, set("native", native(IMAGE))).await;
    running(&cluster, [pod("a", "native"), pod("b", "native")]).await;
    let patch = json!({"spec": native(NEWER)});
    cluster.patch::<SidecarSet>("native", patch).await;
    cluster
        .eventually("both have the newer one and are ready", async |c| {
            let images = images(c, "native").await;
            let ready = status(c, "native").await.updated_ready_pods;
            ready == 2 && images.values().all(|image| image == NEWER)
        })
        .await;
}

/// More than images changed: no running Pod can follow, and everybody says why.
#[kubewright_testing::test(nodes = 1)]
async fn row_condition_side_car_set_upgradable(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("stuck", json!({}))).await;
    running(&cluster, [pod("a", "stuck")]).await;
    let args = json!([{"name": "side", "image": NEWER, "args": ["x"]}]);
    let patch = json!({"spec": {"containers": args}});
    cluster.patch::<SidecarSet>("stuck", patch).await;
    let said = async |c: &Cluster| {
        let pod = c.get::<Pod>("a").await.expect("the Pod");
        let conditions = pod
            .status
            .and_then(|one| one.conditions)
            .unwrap_or_default();
        let found = conditions.into_iter().find(|one| one.type_ == UPGRADABLE);
        found.map(|one| (one.status, one.reason.unwrap_or_default()))
    };
    cluster
        .eventually("the Pod says so", async |c| {
            said(c).await == Some(("False".to_owned(), "UpdateImmutableField".to_owned()))
        })
        .await;
    let status = status(&cluster, "stuck").await;
    assert_eq!(status.not_upgradable_pods, 1);
    let message = &status.conditions[0].message;
    assert!(message.ends_with("; changed: side.args"), "{message}");
    // Back to arguments that it has: it can follow again.
    let plain = json!([{"name": "side", "image": NEWER, "args": null}]);
    let patch = json!({"spec": {"containers": plain}});
    cluster.patch::<SidecarSet>("stuck", patch).await;
    cluster
        .eventually("the Pod is updated and says so", async |c| {
            let is_told = said(c).await.is_some_and(|(status, _)| status == "True");
            is_told && newer(c).await == 1
        })
        .await;
}
