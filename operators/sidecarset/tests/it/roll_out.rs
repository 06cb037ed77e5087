//! The fields of a set that affect running Pods, each with its sample.

use std::time::Duration;

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, UPGRADABLE, operator, working_containers};

use crate::fixtures::{
    IMAGE, NEW_IMAGE, container, create_active_set, create_ready_pods, images, pod, pod_with,
    reason, sample, set, status, update_image, updated_count,
};

/// How long a state must last to count as stable.
const STABLE_TIME: Duration = Duration::from_secs(3);

/// Patches the update strategy of the set.
async fn patch_strategy(cluster: &Cluster, name: &str, strategy: Value) {
    let patch = json!({"spec": {"updateStrategy": strategy}});
    cluster.patch::<SidecarSet>(name, patch).await;
}

/// Waits until this number of Pods is updated and the condition `Progressing` has the reason.
async fn wait_for_progress(cluster: &Cluster, name: &str, count: usize, expected: &str) {
    cluster
        .eventually(format!("{count} Pods are updated: {expected}"), async |c| {
            updated_count(c).await == count && reason(c, name).await == expected
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn roll_out_does_not_start_while_not_update_or_paused(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "update-type";
    create_active_set(&cluster, sample("rows/update-type")).await;
    create_ready_pods(&cluster, [pod("a", name)]).await;
    update_image(&cluster, name, json!({})).await;
    wait_for_progress(&cluster, name, 0, "NotUpdate").await;
    patch_strategy(
        &cluster,
        name,
        json!({"type": "RollingUpdate", "paused": true}),
    )
    .await;
    wait_for_progress(&cluster, name, 0, "Paused").await;
    patch_strategy(&cluster, name, json!({"paused": null})).await;
    wait_for_progress(&cluster, name, 1, "Complete").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn partition_max_unavailable_and_selector_limit_the_roll_out(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "partition";
    create_active_set(&cluster, sample("rows/partition")).await;
    create_ready_pods(
        &cluster,
        ["a", "b", "c"].map(|pod_name| pod(pod_name, name)),
    )
    .await;
    update_image(&cluster, name, json!({})).await;
    wait_for_progress(&cluster, name, 1, "Partition").await;
    // While the updated Pod is not ready, no other one is updated.
    let images = images(&cluster, "side").await;
    let updated = images.iter().find(|(_, image)| *image == NEW_IMAGE);
    let first = updated.expect("an updated Pod").0.clone();
    cluster.set_pod_ready(&first, false).await;
    patch_strategy(&cluster, name, json!({"partition": 0})).await;
    wait_for_progress(&cluster, name, 1, "WaitingForPods").await;
    cluster
        .consistently(STABLE_TIME, "no other Pod is updated", async |c| {
            updated_count(c).await == 1
        })
        .await;
    cluster.set_pod_ready(&first, true).await;
    wait_for_progress(&cluster, name, 3, "Complete").await;
    // Only selected Pods are updated.
    patch_strategy(
        &cluster,
        name,
        json!({"selector": {"matchLabels": {"no": "one"}}}),
    )
    .await;
    let reverted = json!({"spec": {"containers": [{"name": "side", "image": IMAGE}]}});
    cluster.patch::<SidecarSet>(name, reverted).await;
    wait_for_progress(&cluster, name, 3, "Selector").await;
    patch_strategy(&cluster, name, json!({"selector": null})).await;
    wait_for_progress(&cluster, name, 0, "Complete").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pods_of_larger_weight_are_updated_first(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/priority")).await;
    let tier = |tier: &str| json!({"labels": {"tier": tier}});
    let pods = [("a", "live"), ("b", "test"), ("c", "live")]
        .map(|(name, value)| pod_with(name, "priority", tier(value), json!({})));
    create_ready_pods(&cluster, pods).await;
    update_image(&cluster, "priority", json!({})).await;
    wait_for_progress(&cluster, "priority", 1, "Partition").await;
    assert_eq!(images(&cluster, "side").await["b"], NEW_IMAGE);
}

#[kubewright_testing::test(nodes = 1)]
async fn order_priority_compares_numbers_at_the_end_of_labels(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "order-priority";
    create_active_set(&cluster, sample("rows/order-priority")).await;
    let order = |order: &str| json!({"labels": {"order": order}});
    // Numbers and not text: 10 is larger than 9.
    let pods = [("a", "n-9"), ("b", "n-10"), ("c", "n-1")]
        .map(|(pod, value)| pod_with(pod, name, order(value), json!({})));
    create_ready_pods(&cluster, pods).await;
    update_image(&cluster, name, json!({})).await;
    wait_for_progress(&cluster, name, 1, "Partition").await;
    assert_eq!(images(&cluster, "side").await["b"], NEW_IMAGE);
    patch_strategy(&cluster, name, json!({"partition": 1})).await;
    wait_for_progress(&cluster, name, 2, "Partition").await;
    assert_eq!(images(&cluster, "side").await["a"], NEW_IMAGE);
}

#[kubewright_testing::test(nodes = 1)]
async fn only_selected_pods_are_updated(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "update-selector";
    create_active_set(&cluster, sample("rows/update-selector")).await;
    let tier = |tier: &str| json!({"labels": {"tier": tier}});
    let pods = [("a", "live"), ("b", "test"), ("c", "test")]
        .map(|(pod, value)| pod_with(pod, name, tier(value), json!({})));
    create_ready_pods(&cluster, pods).await;
    update_image(&cluster, name, json!({})).await;
    wait_for_progress(&cluster, name, 2, "Selector").await;
    let images = images(&cluster, "side").await;
    assert_eq!(
        ["a", "b", "c"].map(|pod| images[pod].as_str()),
        [IMAGE, NEW_IMAGE, NEW_IMAGE]
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn percentage_of_partition_is_rounded_up(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "partition-percent";
    create_active_set(&cluster, sample("rows/partition-percent")).await;
    create_ready_pods(
        &cluster,
        ["a", "b", "c"].map(|pod_name| pod(pod_name, name)),
    )
    .await;
    update_image(&cluster, name, json!({})).await;
    // 50 % of 3 Pods are 2.
    wait_for_progress(&cluster, name, 1, "Partition").await;
    patch_strategy(&cluster, name, json!({"partition": "34%"})).await;
    cluster
        .consistently(STABLE_TIME, "two Pods are still kept back", async |c| {
            updated_count(c).await == 1
        })
        .await;
    patch_strategy(&cluster, name, json!({"partition": "33%"})).await;
    wait_for_progress(&cluster, name, 2, "Partition").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn scatter_strategy_spreads_updates_over_the_values_of_a_label(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/scatter")).await;
    let zone = |zone: &str| json!({"labels": {"zone": zone}});
    let pods = [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")]
        .map(|(name, value)| pod_with(name, "scatter", zone(value), json!({})));
    create_ready_pods(&cluster, pods).await;
    update_image(&cluster, "scatter", json!({})).await;
    wait_for_progress(&cluster, "scatter", 2, "Partition").await;
    let images = images(&cluster, "side").await;
    let updated = images.iter().filter(|(_, image)| *image == NEW_IMAGE);
    let mut zones: Vec<_> = updated.map(|(name, _)| name.chars().next()).collect();
    zones.sort_unstable();
    assert_eq!(zones, [Some('a'), Some('b')]);
}

#[kubewright_testing::test(nodes = 1)]
async fn hot_upgrade_switches_to_the_second_container(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "upgrade-strategy";
    create_active_set(&cluster, sample("rows/upgrade-strategy")).await;
    create_ready_pods(&cluster, [pod("a", name)]).await;
    update_image(&cluster, name, json!({})).await;
    cluster
        .eventually("the second container works", async |c| {
            let pod = c.get::<Pod>("a").await.expect("the Pod");
            let image = |name: &str| container(&pod, name)["image"].clone();
            image("side-2") == NEW_IMAGE
                && image("side-1") == "registry.k8s.io/pause:empty"
                && status(c, name).await.updated_ready_pods == 1
        })
        .await;
    let pod = cluster.get::<Pod>("a").await.expect("the Pod");
    assert_eq!(working_containers(&pod)["side"], "side-2");
    assert_eq!(
        pod.annotations()["version.sidecarset.kruise.io/side-1"],
        "0"
    );
}

/// OpenKruise rejects such updates.
#[kubewright_testing::test(nodes = 1)]
async fn native_sidecars_are_updated_in_place(cluster: Cluster) {
    cluster.run(operator).await;
    let native = |image: &str| {
        json!({"initContainers":
            [{"name": "native", "image": image, "restartPolicy": "Always"}]})
    };
    create_active_set(&cluster, set("native", native(IMAGE))).await;
    create_ready_pods(&cluster, [pod("a", "native"), pod("b", "native")]).await;
    let patch = json!({"spec": native(NEW_IMAGE)});
    cluster.patch::<SidecarSet>("native", patch).await;
    cluster
        .eventually("both Pods have the new image and are ready", async |c| {
            let images = images(c, "native").await;
            let ready = status(c, "native").await.updated_ready_pods;
            ready == 2 && images.values().all(|image| image == NEW_IMAGE)
        })
        .await;
}

/// More than an image has changed.
#[kubewright_testing::test(nodes = 1)]
async fn pod_that_cannot_be_updated_in_place_has_upgradable_false(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("stuck", json!({}))).await;
    create_ready_pods(&cluster, [pod("a", "stuck")]).await;
    let args = json!([{"name": "side", "image": NEW_IMAGE, "args": ["x"]}]);
    let patch = json!({"spec": {"containers": args}});
    cluster.patch::<SidecarSet>("stuck", patch).await;
    let upgradable = async |c: &Cluster| {
        let pod = c.get::<Pod>("a").await.expect("the Pod");
        let conditions = pod.status.and_then(|status| status.conditions);
        let found = conditions
            .into_iter()
            .flatten()
            .find(|condition| condition.type_ == UPGRADABLE);
        found.map(|condition| (condition.status, condition.reason.unwrap_or_default()))
    };
    cluster
        .eventually("the condition is false", async |c| {
            upgradable(c).await == Some(("False".to_owned(), "UpdateImmutableField".to_owned()))
        })
        .await;
    let status = status(&cluster, "stuck").await;
    assert_eq!(status.not_upgradable_pods, 1);
    let message = &status.conditions[0].message;
    assert!(message.ends_with("; changed: side.args"), "{message}");
    // With the arguments that the Pod has, it can be updated.
    let plain = json!([{"name": "side", "image": NEW_IMAGE, "args": null}]);
    let patch = json!({"spec": {"containers": plain}});
    cluster.patch::<SidecarSet>("stuck", patch).await;
    cluster
        .eventually("the Pod is updated and the condition is true", async |c| {
            let condition = upgradable(c).await;
            condition.is_some_and(|(status, _)| status == "True") && updated_count(c).await == 1
        })
        .await;
}
