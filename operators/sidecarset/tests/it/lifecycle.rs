//! The whole life of a set: validation, defaults, injection, status and update.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{HASH_ANNOTATION, INJECTED, SidecarSet, injections, operator, spec_hash};

use crate::fixtures::{
    NEW_IMAGE, changes_since, container, containers, create_active_set, create_ready_pods, images,
    is_ready, list_pods, pod, reason, set, status, update_image, updated_count,
};
use crate::validation::create_error;

#[kubewright_testing::test(nodes = 2)]
async fn set_is_validated_and_defaulted_and_its_pods_are_injected_counted_and_updated_one_by_one(
    cluster: Cluster,
) {
    cluster.run(operator).await;
    let invalid = json!({"selector": {}, "containers": [{"name": "side"}]});
    let error = create_error(&cluster, "flow", invalid).await;
    let causes = error.details.map(|details| details.causes);
    let fields: Vec<_> = causes
        .iter()
        .flatten()
        .map(|cause| cause.field.as_str())
        .collect();
    assert_eq!(
        (error.code, fields),
        (422, vec!["spec.selector", "spec.containers[0].image"])
    );

    let created = create_active_set(&cluster, set("flow", json!({}))).await;
    let side = &created.spec.containers[0].container;
    assert_eq!(side.image_pull_policy.as_deref(), Some("IfNotPresent"));
    assert_eq!(side.termination_message_policy.as_deref(), Some("File"));
    assert_eq!(created.annotations()[HASH_ANNOTATION], spec_hash(&created));

    for name in ["one", "two", "three"] {
        let injected_pod = cluster.create(pod(name, "flow")).await;
        assert_eq!(containers(&injected_pod), ["side", "app"]);
        let env = container(&injected_pod, "side")["env"].clone();
        assert_eq!(env, json!([{"name": INJECTED, "value": "true"}]));
        assert_eq!(injections(&injected_pod)["flow"].hash, spec_hash(&created));
    }
    let other = cluster.create(pod("other", "else")).await;
    assert_eq!(containers(&other), ["app"]);
    cluster.delete::<Pod>("other").await;
    cluster
        .eventually("all Pods are counted", async |c| {
            let status = status(c, "flow").await;
            let counts = (status.matched_pods, status.updated_pods, status.ready_pods);
            counts == (3, 3, 3) && status.uninjected_pods == 0
        })
        .await;

    let (mut pods, version) = list_pods(&cluster).await;
    update_image(&cluster, "flow", json!({})).await;
    cluster
        .eventually("all Pods are updated and ready", async |c| {
            let status = status(c, "flow").await;
            updated_count(c).await == 3 && status.updated_ready_pods == 3
        })
        .await;
    assert_eq!(reason(&cluster, "flow").await, "Complete");
    let updated = cluster.get::<SidecarSet>("flow").await.expect("the set");
    for condition in updated.status.unwrap_or_default().conditions {
        let generation = updated.metadata.generation;
        assert_eq!(condition.observed_generation, generation, "{condition:?}");
    }
    let mut max_at_once = 0;
    for pod in changes_since(&cluster, &version).await {
        pods.insert(pod.name_any(), pod);
        let updating = pods.values().filter(|pod| is_updating(pod)).count();
        max_at_once = max_at_once.max(updating);
    }
    assert_eq!(max_at_once, 1, "Pods that were updated at once");
    for pod in cluster.list::<Pod>().await {
        let statuses = pod.status.and_then(|status| status.container_statuses);
        let restarts: Vec<_> = statuses
            .unwrap_or_default()
            .iter()
            .map(|status| (status.name.clone(), status.restart_count))
            .collect();
        assert_eq!(restarts, [("side".to_owned(), 1), ("app".to_owned(), 0)]);
    }
}

/// Whether the Pod has the new image and is not yet ready with it.
fn is_updating(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let mut statuses = status.flat_map(|status| status.container_statuses.iter().flatten());
    let is_running_new =
        statuses.any(|status| status.name == "side" && status.image == NEW_IMAGE && status.ready);
    container(pod, "side")["image"] == NEW_IMAGE && !(is_running_new && is_ready(pod))
}

/// OpenKruise misses both changes.
#[kubewright_testing::test(nodes = 1)]
async fn deleted_pods_and_changed_labels_of_namespaces_update_the_counts(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("changing", json!({}))).await;
    create_ready_pods(&cluster, [pod("a", "changing"), pod("b", "changing")]).await;
    let counts = async |expected: i32| {
        cluster
            .eventually(format!("{expected} Pods are counted"), async |c| {
                status(c, "changing").await.matched_pods == expected
            })
            .await;
    };
    counts(2).await;
    cluster.delete::<Pod>("a").await;
    counts(1).await;
    let team = json!({"matchLabels": {"team": "changing"}});
    let selector = json!({"spec": {"namespaceSelector": team}});
    cluster.patch::<SidecarSet>("changing", selector).await;
    counts(0).await;
    let label = json!({"metadata": {"labels": {"team": "changing"}}});
    cluster.patch::<Namespace>(cluster.namespace(), label).await;
    counts(1).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pods_older_than_the_set_count_as_uninjected(cluster: Cluster) {
    cluster.run(operator).await;
    create_ready_pods(&cluster, [pod("old", "older")]).await;
    create_active_set(&cluster, set("older", json!({}))).await;
    cluster
        .eventually("the older Pod is counted as uninjected", async |c| {
            let status = status(c, "older").await;
            (status.matched_pods, status.uninjected_pods) == (0, 1)
        })
        .await;
    update_image(&cluster, "older", json!({})).await;
    create_ready_pods(&cluster, [pod("new", "older")]).await;
    cluster.delete::<Pod>("old").await;
    cluster
        .eventually("the older Pod is deleted", async |c| {
            c.get::<Pod>("old").await.is_none()
        })
        .await;
    assert_eq!(images(&cluster, "side").await["new"], NEW_IMAGE);
}
