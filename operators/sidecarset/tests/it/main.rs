//! SidecarSet on a cluster: embedded, or real with `KUBEWRIGHT_TEST_CLUSTER=real`.

mod flow;
mod program;
mod refusals;
mod samples;

use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, SidecarSetStatus};

const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// A set for the Pods of `app`; sets are cluster-wide, so each test uses a label of its own.
fn set(name: &str, app: &str) -> SidecarSet {
    let set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": app}},
            "containers": [{"name": "side", "image": IMAGE}],
        },
    });
    read(set)
}

fn pod(name: &str, labels: Value) -> Pod {
    read(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "app", "image": IMAGE}]},
    }))
}

fn read<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object reads")
}

fn containers(pod: &Pod) -> Vec<&str> {
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    spec.containers
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

async fn status(cluster: &Cluster, name: &str) -> SidecarSetStatus {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let set = sets.get_opt(name).await.expect("the server answers");
    set.and_then(|set| set.status).unwrap_or_default()
}

/// Makes a set and waits until the operator knows it.
async fn known(cluster: &Cluster, set: SidecarSet) -> SidecarSet {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let made = sets.create(&PostParams::default(), &set).await;
    let made = made.expect("the set is taken");
    cluster
        .eventually("the set is seen", async |c| {
            status(c, &made.name_any()).await.observed_generation == 1
        })
        .await;
    made
}
