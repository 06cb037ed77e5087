//! What the tests make and look at.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::Api;
use kube::api::{ListParams, PostParams, WatchParams};
use kube::core::Request;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, SidecarSetStatus, injected_list};

pub(crate) const IMAGE: &str = "registry.k8s.io/pause:3.10";
/// Where the manifests put the operator.
pub(crate) const NAMESPACE: &str = "sidecarset-system";
pub(crate) const NEWER: &str = "registry.k8s.io/pause:3.9";

/// A set for the Pods of `app`; sets are cluster-wide, so each test uses a label of its own.
pub(crate) fn set(name: &str, more: Value) -> SidecarSet {
    let mut spec = json!({
        "selector": {"matchLabels": {"sample": name}},
        "containers": [{"name": "side", "image": IMAGE}],
    });
    for (key, value) in more.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    read(json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    }))
}

/// A Pod for the set of that name.
pub(crate) fn pod(name: &str, set: &str) -> Pod {
    pod_with(name, set, json!({}), json!({}))
}

/// The same with more metadata, and with more in its container.
pub(crate) fn pod_with(name: &str, set: &str, metadata: Value, container: Value) -> Pod {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"sample": set}},
        "spec": {"containers": [{"name": "app", "image": IMAGE}]},
    });
    for (place, more) in [("/metadata", metadata), ("/spec/containers/0", container)] {
        let target = pod.pointer_mut(place).expect("it is there");
        for (key, value) in more.as_object().expect("fields") {
            match (target.get_mut(key), value) {
                (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
                _ => target[key] = value.clone(),
            }
        }
    }
    read(pod)
}

pub(crate) fn read<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object reads")
}

/// The set of a file in `samples`.
pub(crate) fn sample(file: &str) -> SidecarSet {
    let path = format!("{}/samples/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the sample is there");
    serde_saphyr::from_str(&text).expect("the sample reads")
}

pub(crate) fn containers(pod: &Pod) -> Vec<&str> {
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    spec.containers
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

/// A container of a Pod as JSON.
pub(crate) fn container(pod: &Pod, name: &str) -> Value {
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    let initial = spec.init_containers.iter().flatten();
    let mut all = spec.containers.iter().chain(initial);
    let found = all.find(|one| one.name == name);
    json!(found.expect("the container is there"))
}

/// The images of a container, by Pod.
pub(crate) async fn images(cluster: &Cluster, name: &str) -> BTreeMap<String, String> {
    let pods = cluster.list::<Pod>().await;
    let image = |pod: &Pod| {
        let image = container(pod, name)["image"].clone();
        (
            pod.name_any(),
            image.as_str().unwrap_or_default().to_owned(),
        )
    };
    pods.iter().map(image).collect()
}

/// How many Pods have the newer image.
pub(crate) async fn newer(cluster: &Cluster) -> usize {
    let images = images(cluster, "side").await;
    images.values().filter(|image| *image == NEWER).count()
}

pub(crate) async fn status(cluster: &Cluster, name: &str) -> SidecarSetStatus {
    let set = cluster.get::<SidecarSet>(name).await;
    set.and_then(|set| set.status).unwrap_or_default()
}

/// Why the roll-out is where it is, in one word.
pub(crate) async fn reason(cluster: &Cluster, name: &str) -> String {
    let status = status(cluster, name).await;
    let mut conditions = status.conditions.into_iter();
    let progress = conditions.find(|one| one.type_ == "Progressing");
    progress.map(|one| one.reason).unwrap_or_default()
}

/// Makes a set and waits until the operator knows it.
pub(crate) async fn known(cluster: &Cluster, set: SidecarSet) -> SidecarSet {
    let made = cluster.create(set).await;
    seen(cluster, &made).await;
    made
}

/// Waits until the operator has looked at a set as it is.
pub(crate) async fn seen(cluster: &Cluster, set: &SidecarSet) {
    cluster
        .eventually("the set is seen", async |c| {
            let generation = set.metadata.generation.unwrap_or_default();
            status(c, &set.name_any()).await.observed_generation >= generation
        })
        .await;
}

/// Makes a set and waits until Pods get its containers: the API server learns last whom to ask.
pub(crate) async fn active(cluster: &Cluster, set: SidecarSet) -> SidecarSet {
    let made = known(cluster, set).await;
    let name = made.name_any();
    let selector = made.spec.selector.clone().unwrap_or_default();
    let labels = selector.match_labels.unwrap_or_default();
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let mut probe = pod("probe", &name);
    probe.labels_mut().extend(labels);
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    cluster
        .eventually("Pods get the containers", async |_| {
            let made = pods.create(&params, &probe).await;
            made.is_ok_and(|pod| injected_list(&pod).contains(&name))
        })
        .await;
    made
}

/// Makes Pods for a set and waits until they are ready.
pub(crate) async fn running(cluster: &Cluster, pods: impl IntoIterator<Item = Pod>) {
    // A Pod is large; the future holds a pointer to them.
    let pods: Vec<Pod> = pods.into_iter().collect();
    for pod in pods {
        cluster.create(pod).await;
    }
    cluster
        .eventually("the Pods are ready", async |c| {
            let pods = c.list::<Pod>().await;
            pods.iter().all(is_ready)
        })
        .await;
}

pub(crate) fn is_ready(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|one| one.conditions.iter().flatten());
    conditions.any(|one| one.type_ == "Ready" && one.status == "True")
}

/// The Pods as they are, by name, and the revision at which they are so.
pub(crate) async fn now(cluster: &Cluster) -> (BTreeMap<String, Pod>, String) {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let list = pods.list(&ListParams::default()).await.expect("a list");
    let revision = list.metadata.resource_version.expect("a revision");
    let named = list.items.into_iter().map(|pod| (pod.name_any(), pod));
    (named.collect(), revision)
}

/// All that became of Pods since that revision, in its order.
pub(crate) async fn happened(cluster: &Cluster, since: &str) -> Vec<Pod> {
    let path = format!("/api/v1/namespaces/{}/pods", cluster.namespace());
    // The server tells what was, waits for more and ends by itself.
    let params = WatchParams::default().timeout(2).disable_bookmarks();
    let request = Request::new(path).watch(&params, since).expect("a watch");
    let text = cluster
        .client()
        .request_text(request)
        .await
        .expect("events");
    let events = text.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect("an event");
        assert_ne!(event["type"], "ERROR", "{event}");
        read(event["object"].take())
    });
    events.collect()
}

/// Gives the set's container the newer image, and more.
pub(crate) async fn change(cluster: &Cluster, name: &str, more: Value) -> SidecarSet {
    let set = cluster.get::<SidecarSet>(name).await.expect("the set");
    let mut containers = json!(set.spec.containers);
    containers[0]["image"] = NEWER.into();
    let mut spec = json!({"containers": containers});
    for (key, value) in more.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    cluster
        .patch::<SidecarSet>(name, json!({"spec": spec}))
        .await
}

/// Whether the API server asks the operator about no Pod, once it has learnt so.
pub(crate) async fn asks_nobody(cluster: &Cluster) -> bool {
    let there = cluster
        .get::<MutatingWebhookConfiguration>("sidecarset")
        .await;
    let webhooks = there.expect("it is installed").webhooks;
    let mut names = webhooks.iter().flatten().map(|one| &one.name);
    !names.any(|name| name.starts_with("scope-"))
}
