//! Sets and running Pods for tests.

use std::sync::Arc;

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::{InjectedPod, injected_pod};
use crate::SidecarSet;
use crate::inject::{InjectionContext, inject};
use crate::pod_namespace::PodNamespace;

/// Builds a set with one sidecar of this image, and with further fields.
pub(crate) fn set_of(image: &str, fields: Value) -> SidecarSet {
    let mut spec = json!({
        "selector": {"matchLabels": {"app": "web"}},
        "containers": [{"name": "a", "image": image}],
    });
    for (key, value) in fields.as_object().unwrap() {
        spec[key] = value.clone();
    }
    let set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": "s"}, "spec": spec,
    });
    serde_json::from_value(set).unwrap()
}

/// Builds a running Pod with the containers of the set.
pub(crate) fn pod_of(set: &SidecarSet, name: &str) -> Pod {
    let pod = json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"),
            "resourceVersion": "5", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app:1"}], "nodeName": "n"},
    });
    let context = InjectionContext {
        namespace: PodNamespace {
            name: "default",
            labels: None,
        },
        sets: vec![Arc::new(set.clone())],
        revisions: Vec::new(),
    };
    let pod = inject(serde_json::from_value(pod).unwrap(), &context);
    run_by_kubelet(pod.unwrap())
}

/// Sets the status that the kubelet reports once all containers of the spec run and are ready.
pub(crate) fn run_by_kubelet(pod: Pod) -> Pod {
    let mut value = json!(pod);
    let status = |container: &Value| {
        let image = container["image"].as_str().unwrap_or_default();
        json!({"name": container["name"], "image": image, "imageID": format!("id of {image}"),
            "ready": true, "restartCount": 0})
    };
    let statuses = |list: &Value| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(status).collect()
    };
    value["status"] = json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": statuses(&value["spec"]["containers"]),
        "initContainerStatuses": statuses(&value["spec"]["initContainers"]),
    });
    serde_json::from_value(value).unwrap()
}

/// Builds an injected Pod of the set with the changes merged in.
pub(crate) fn injected_pod_of(set: &SidecarSet, name: &str, change: &Value) -> InjectedPod {
    fn merge(target: &mut Value, change: &Value) {
        match change {
            Value::Object(members) => {
                for (key, value) in members {
                    merge(&mut target[key.as_str()], value);
                }
            }
            other => *target = other.clone(),
        }
    }
    let mut pod = json!(pod_of(set, name));
    merge(&mut pod, change);
    let pod: Pod = serde_json::from_value(pod).unwrap();
    injected_pod(set, &Arc::new(pod)).unwrap()
}
