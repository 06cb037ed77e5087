//! MyDaemonSet on a cluster: the embedded one, or a real one with `KUBEWRIGHT_TEST_CLUSTER=real`.

mod api_errors;
mod crashes;
mod nodes;
mod pods;
mod process;
mod program;
mod roll_out;
mod set;
mod steady_state;
mod webhook;

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use set::{IMAGE, image_of, node_of, rolled_out, sample, status};

#[kubewright_testing::test(nodes = 3)]
async fn new_node_gets_a_pod(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.apply(sample()).await;
    cluster
        .eventually("a pod on each node", async |c| {
            c.list::<Pod>().await.len() == 3
        })
        .await;
    cluster.add_node("node-4").await;
    cluster
        .eventually("a fourth pod", async |c| c.list::<Pod>().await.len() == 4)
        .await;
}

#[kubewright_testing::test(nodes = 3)]
async fn each_node_runs_one_pod_of_the_set(cluster: Cluster) {
    rolled_out(&cluster, 3).await;
    let pods = cluster.list::<Pod>().await;
    let mut nodes: Vec<&str> = pods.iter().map(node_of).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!((pods.len(), nodes.len()), (3, 3), "{nodes:?}");
    let set = cluster.get::<MyDaemonSet>("sample").await;
    let uid = set.and_then(|set| set.metadata.uid);
    for pod in &pods {
        let owner = pod.owner_references().first();
        assert_eq!(owner.map(|owner| owner.uid.clone()), uid);
    }
}

#[kubewright_testing::test(nodes = 3)]
async fn pod_of_a_removed_node_is_deleted(cluster: Cluster) {
    rolled_out(&cluster, 3).await;
    let pods = cluster.list::<Pod>().await;
    let removed = node_of(&pods[0]).to_owned();
    cluster.remove_node(&removed).await;
    cluster
        .eventually("no pod on the removed node", async |c| {
            let pods = c.list::<Pod>().await;
            pods.len() == 2 && pods.iter().all(|pod| node_of(pod) != removed)
        })
        .await;
    cluster
        .eventually("a status that counts two nodes", async |c| {
            status(c).await.desired_replicas == 2
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn new_image_is_rolled_out_to_every_pod(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let patch = json!({"spec": {"image": "registry.k8s.io/pause:3.9"}});
    cluster.patch::<MyDaemonSet>("sample", patch).await;
    cluster
        .eventually("the new image on both nodes", async |c| {
            let pods = c.list::<Pod>().await;
            let new = pods.iter().filter(|pod| image_of(pod).ends_with(":3.9"));
            new.count() == 2 && pods.len() == 2
        })
        .await;
    cluster
        .eventually("a status that counts both nodes", async |c| {
            let status = status(c).await;
            status.updated_replicas == 2 && status.available_replicas == 2
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn status_reports_counts_conditions_and_generation(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster
        .eventually("the condition Available", async |c| {
            let conditions = status(c).await.conditions;
            conditions
                .iter()
                .any(|condition| condition.type_ == "Available" && condition.status == "True")
        })
        .await;
    let set = cluster.get::<MyDaemonSet>("sample").await;
    let status = status(&cluster).await;
    let generation = set.and_then(|set| set.metadata.generation);
    assert_eq!(Some(status.observed_generation), generation);
    for condition in &status.conditions {
        assert_eq!(condition.observed_generation, generation, "{condition:?}");
    }
    assert_eq!((status.desired_replicas, status.current_replicas), (2, 2));
    assert_eq!((status.updated_replicas, status.ready_replicas), (2, 2));
}

#[kubewright_testing::test(nodes = 2)]
async fn deleted_pod_is_replaced(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let deleted = cluster.list::<Pod>().await.remove(0);
    cluster.delete::<Pod>(&deleted.name_any()).await;
    cluster
        .eventually("a new pod of the same name", async |c| {
            let found = c.get::<Pod>(&deleted.name_any()).await;
            found.is_some_and(|pod| pod.uid() != deleted.uid())
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn pods_are_deleted_with_their_set(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster.delete::<MyDaemonSet>("sample").await;
    cluster
        .eventually("no pods", async |c| c.list::<Pod>().await.is_empty())
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn pod_without_an_owner_is_left_unchanged(cluster: Cluster) {
    let foreign: Pod = serde_json::from_value(json!({
        "metadata": {"name": "foreign", "labels": {"mydaemonset": "sample"}},
        "spec": {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.8"}]},
    }))
    .expect("a valid Pod");
    let foreign = cluster.create(foreign).await;
    rolled_out(&cluster, 2).await;
    let found = cluster.get::<Pod>("foreign").await;
    assert_eq!(found.and_then(|pod| pod.uid()), foreign.uid());
    assert_eq!(cluster.list::<Pod>().await.len(), 3);
}

#[kubewright_testing::test(nodes = 2)]
async fn reconciled_set_is_not_written_again(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let resource_version = async |c: &Cluster| {
        let set = c.get::<MyDaemonSet>("sample").await;
        set.and_then(|set| set.metadata.resource_version)
    };
    let before = resource_version(&cluster).await;
    let labels = json!({"metadata": {"labels": {"zone": "a"}}});
    let nodes = cluster.list::<Node>().await;
    cluster.patch::<Node>(&nodes[0].name_any(), labels).await;
    cluster
        .consistently(
            Duration::from_secs(3),
            "no new resource version",
            async |c| resource_version(c).await == before,
        )
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn restarted_operator_keeps_the_pods(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let before: Vec<_> = cluster.list::<Pod>().await.iter().map(Pod::uid).collect();
    cluster.restart_operator().await;
    cluster.add_node("node-3").await;
    cluster
        .eventually("a third pod", async |c| {
            status(c).await.available_replicas == 3
        })
        .await;
    let after: Vec<_> = cluster.list::<Pod>().await.iter().map(Pod::uid).collect();
    assert!(
        before.iter().all(|uid| after.contains(uid)),
        "pods were replaced"
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn pod_that_cannot_be_created_does_not_delay_other_nodes(cluster: Cluster) {
    rolled_out(&cluster, 1).await;
    cluster.add_node("node-x").await;
    let on_x = async |c: &Cluster| {
        let pods = c.list::<Pod>().await;
        pods.iter()
            .find(|pod| node_of(pod) == "node-x")
            .map(Pod::name_any)
    };
    cluster
        .eventually("a pod on node-x", async |c| on_x(c).await.is_some())
        .await;
    let name = on_x(&cluster).await.expect("a pod on node-x");
    cluster.remove_node("node-x").await;
    cluster
        .eventually("the end of the pod on node-x", async |c| {
            c.get::<Pod>(&name).await.is_none()
        })
        .await;
    let squatter: Pod = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "app", "image": IMAGE}]},
    }))
    .expect("a valid Pod");
    cluster.create(squatter).await;
    cluster.add_node("node-x").await;
    cluster.add_node("node-y").await;
    cluster
        .eventually("a pod on node-y", async |c| {
            let pods = c.list::<Pod>().await;
            pods.iter()
                .any(|pod| node_of(pod) == "node-y" && !pod.owner_references().is_empty())
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn condition_of_another_field_manager_is_kept(cluster: Cluster) {
    rolled_out(&cluster, 1).await;
    let foreign = json!({
        "apiVersion": "apps.kubewright.dev/v1beta1", "kind": "MyDaemonSet",
        "metadata": {"name": "sample"},
        "status": {"conditions": [
            {"type": "Foreign", "status": "True", "reason": "Seen", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]},
    });
    let sets: Api<MyDaemonSet> = Api::namespaced(cluster.client(), cluster.namespace());
    let as_other = PatchParams::apply("other");
    sets.patch_status("sample", &as_other, &Patch::Apply(foreign))
        .await
        .expect("write the status");
    // The operator writes the status next, perhaps before its cache has the condition.
    cluster.add_node("node-2").await;
    cluster
        .eventually("a status that counts two nodes", async |c| {
            status(c).await.available_replicas == 2
        })
        .await;
    let types: Vec<_> = status(&cluster)
        .await
        .conditions
        .into_iter()
        .map(|condition| condition.type_)
        .collect();
    assert_eq!(types, ["Available", "Progressing", "Foreign"]);
}
