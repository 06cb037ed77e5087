//! The set that the tests use, and what they read of its Pods and its status.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, MyDaemonSetSpec, MyDaemonSetStatus, operator};
use serde_json::{Value, json};

pub(crate) const IMAGE: &str = "registry.k8s.io/pause:3.10";

pub(crate) fn sample() -> MyDaemonSet {
    let spec = MyDaemonSetSpec {
        image: IMAGE.to_owned(),
        ..MyDaemonSetSpec::default()
    };
    MyDaemonSet::new("sample", spec)
}

/// Returns the sample with further fields in its spec.
pub(crate) fn sample_with(options: &Value) -> MyDaemonSet {
    let mut set = serde_json::to_value(sample()).expect("a set is JSON");
    for (name, value) in options.as_object().into_iter().flatten() {
        set["spec"][name] = value.clone();
    }
    serde_json::from_value(set).expect("a valid set")
}

/// Runs the operator with the sample until each of the nodes has an available Pod.
pub(crate) async fn rolled_out(cluster: &Cluster, nodes: i32) {
    cluster.run(operator).await;
    cluster.apply(sample()).await;
    cluster
        .eventually("an available pod on each node", async |c| {
            status(c).await.available_replicas == nodes
        })
        .await;
}

pub(crate) async fn status(cluster: &Cluster) -> MyDaemonSetStatus {
    let set = cluster.get::<MyDaemonSet>("sample").await;
    set.and_then(|set| set.status).unwrap_or_default()
}

/// Returns the node that the Pod runs on, or an empty string.
pub(crate) fn node_of(pod: &Pod) -> &str {
    let spec = pod.spec.as_ref();
    spec.and_then(|spec| spec.node_name.as_deref())
        .unwrap_or_default()
}

pub(crate) fn image_of(pod: &Pod) -> &str {
    let container = pod.spec.as_ref().and_then(|spec| spec.containers.first());
    container
        .and_then(|container| container.image.as_deref())
        .unwrap_or_default()
}

/// Changes the image of the set.
pub(crate) async fn change_image(cluster: &Cluster, tag: &str) {
    let image = format!("registry.k8s.io/pause:{tag}");
    let patch = json!({"spec": {"image": image}});
    cluster.patch::<MyDaemonSet>("sample", patch).await;
}

/// Returns the Pods that run this image.
pub(crate) async fn with_image(cluster: &Cluster, tag: &str) -> Vec<Pod> {
    let mut pods = cluster.list::<Pod>().await;
    pods.retain(|pod| image_of(pod).ends_with(&format!(":{tag}")));
    pods
}

/// Returns the Pod on the node.
pub(crate) async fn pod_on(cluster: &Cluster, node: &str) -> Pod {
    let pods = cluster.list::<Pod>().await;
    let mut here = pods.into_iter().filter(|pod| node_of(pod) == node);
    here.next().expect("a Pod on the node")
}

/// Waits until the status counts this many available nodes.
pub(crate) async fn available(cluster: &Cluster, nodes: i32) {
    let what = format!("{nodes} available nodes");
    cluster
        .eventually(what, async |c| {
            let status = status(c).await;
            status.available_replicas == nodes && status.desired_replicas == nodes
        })
        .await;
}
