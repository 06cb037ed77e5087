//! The sets and Pods that the tests create, and what they read of them.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::Api;
use kube::api::{ListParams, PostParams, WatchParams};
use kube::core::Request;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, SidecarSetStatus, injected_sets};

/// The image of the containers.
pub(crate) const IMAGE: &str = "registry.k8s.io/pause:3.10";
/// The namespace of the operator in its manifests.
pub(crate) const NAMESPACE: &str = "sidecarset-system";
/// The image of an updated sidecar.
pub(crate) const NEW_IMAGE: &str = "registry.k8s.io/pause:3.9";

/// Builds a set with further fields in its spec. Sets are cluster-wide, so each one selects a label
/// of its own.
pub(crate) fn set(name: &str, fields: Value) -> SidecarSet {
    let mut spec = json!({
        "selector": {"matchLabels": {"sample": name}},
        "containers": [{"name": "side", "image": IMAGE}],
    });
    for (key, value) in fields.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    from_json(json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    }))
}

/// Builds a Pod that the set of this name selects.
pub(crate) fn pod(name: &str, set: &str) -> Pod {
    pod_with(name, set, json!({}), json!({}))
}

/// Builds a Pod like [`pod`] with further fields in its metadata and in its container.
pub(crate) fn pod_with(name: &str, set: &str, metadata: Value, container: Value) -> Pod {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"sample": set}},
        "spec": {"containers": [{"name": "app", "image": IMAGE}]},
    });
    for (path, fields) in [("/metadata", metadata), ("/spec/containers/0", container)] {
        let target = pod.pointer_mut(path).expect("a field of the Pod");
        for (key, value) in fields.as_object().expect("fields") {
            match (target.get_mut(key), value) {
                (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
                _ => target[key] = value.clone(),
            }
        }
    }
    from_json(pod)
}

pub(crate) fn from_json<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("a valid object")
}

/// Reads the set of a file in `samples`.
pub(crate) fn sample(file: &str) -> SidecarSet {
    let path = format!("{}/samples/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("read the sample");
    serde_saphyr::from_str(&text).expect("a valid sample")
}

/// Returns the names of the containers of a Pod.
pub(crate) fn containers(pod: &Pod) -> Vec<&str> {
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    spec.containers
        .iter()
        .map(|container| container.name.as_str())
        .collect()
}

/// Returns a container or an init container of a Pod as JSON.
pub(crate) fn container(pod: &Pod, name: &str) -> Value {
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    let init = spec.init_containers.iter().flatten();
    let mut containers = spec.containers.iter().chain(init);
    let found = containers.find(|container| container.name == name);
    json!(found.expect("a container of the Pod"))
}

/// Returns the image of the container in each Pod, by the name of the Pod.
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

/// Returns the number of Pods whose sidecar has the new image.
pub(crate) async fn updated_count(cluster: &Cluster) -> usize {
    let images = images(cluster, "side").await;
    images.values().filter(|image| *image == NEW_IMAGE).count()
}

pub(crate) async fn status(cluster: &Cluster, name: &str) -> SidecarSetStatus {
    let set = cluster.get::<SidecarSet>(name).await;
    set.and_then(|set| set.status).unwrap_or_default()
}

/// Returns the reason of the condition `Progressing`.
pub(crate) async fn reason(cluster: &Cluster, name: &str) -> String {
    let status = status(cluster, name).await;
    let mut conditions = status.conditions.into_iter();
    let progressing = conditions.find(|condition| condition.type_ == "Progressing");
    progressing
        .map(|condition| condition.reason)
        .unwrap_or_default()
}

/// Creates a set and waits until the operator has observed it.
pub(crate) async fn create_set(cluster: &Cluster, set: SidecarSet) -> SidecarSet {
    let created = cluster.create(set).await;
    wait_until_observed(cluster, &created).await;
    created
}

/// Waits until the operator has observed the current generation of a set.
pub(crate) async fn wait_until_observed(cluster: &Cluster, set: &SidecarSet) {
    cluster
        .eventually("the set is observed", async |c| {
            let generation = set.metadata.generation.unwrap_or_default();
            status(c, &set.name_any()).await.observed_generation >= generation
        })
        .await;
}

/// Creates a set and waits until Pods get its containers: the API server loads the scoped webhooks
/// later than the operator has observed the set.
pub(crate) async fn create_active_set(cluster: &Cluster, set: SidecarSet) -> SidecarSet {
    let created = create_set(cluster, set).await;
    let name = created.name_any();
    let selector = created.spec.selector.clone().unwrap_or_default();
    let labels = selector.match_labels.unwrap_or_default();
    let mut probe = pod("probe", &name);
    probe.labels_mut().extend(labels);
    cluster
        .eventually("Pods get the containers", async |c| {
            let pod = dry_run(c, c.namespace(), &probe).await;
            pod.is_ok_and(|pod| injected_sets(&pod).contains(&name))
        })
        .await;
    created
}

/// Creates a Pod in a dry run, and returns it with its sidecars.
pub(crate) async fn dry_run(
    cluster: &Cluster,
    namespace: &str,
    pod: &Pod,
) -> Result<Pod, kube::Error> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let pods: Api<Pod> = Api::namespaced(cluster.client(), namespace);
    pods.create(&params, pod).await
}

/// Creates Pods and waits until all Pods are ready.
pub(crate) async fn create_ready_pods(cluster: &Cluster, pods: impl IntoIterator<Item = Pod>) {
    // Collected, so that the future holds a pointer to the Pods, which are large.
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
    let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Returns the Pods by name, and the resource version of the list.
pub(crate) async fn list_pods(cluster: &Cluster) -> (BTreeMap<String, Pod>, String) {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let list = pods.list(&ListParams::default()).await.expect("a list");
    let version = list.metadata.resource_version;
    let named = list.items.into_iter().map(|pod| (pod.name_any(), pod));
    (named.collect(), version.expect("a resource version"))
}

/// Returns all changes of Pods since this resource version, in their order.
pub(crate) async fn changes_since(cluster: &Cluster, since: &str) -> Vec<Pod> {
    let path = format!("/api/v1/namespaces/{}/pods", cluster.namespace());
    // The server sends past events, waits for more, and ends the watch after the timeout.
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
        from_json(event["object"].take())
    });
    events.collect()
}

/// Updates the image of the set's container, and further fields of the spec.
pub(crate) async fn update_image(cluster: &Cluster, name: &str, fields: Value) -> SidecarSet {
    let set = cluster.get::<SidecarSet>(name).await.expect("the set");
    let mut containers = json!(set.spec.containers);
    containers[0]["image"] = NEW_IMAGE.into();
    let mut spec = json!({"containers": containers});
    for (key, value) in fields.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    cluster
        .patch::<SidecarSet>(name, json!({"spec": spec}))
        .await
}

/// Whether the API server calls the webhook for no Pod.
pub(crate) async fn has_no_scoped_webhooks(cluster: &Cluster) -> bool {
    let configuration = cluster
        .get::<MutatingWebhookConfiguration>("sidecarset")
        .await;
    let webhooks = configuration.expect("an installed operator").webhooks;
    let mut names = webhooks.iter().flatten().map(|webhook| &webhook.name);
    !names.any(|name| name.starts_with("scope-"))
}
