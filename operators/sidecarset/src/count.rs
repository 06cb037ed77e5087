use std::sync::Arc;

use kubewright::prelude::*;

use crate::{SidecarSet, SidecarSetStatus, injected, selects, spec_hash};

/// What the status of a set says of these Pods.
pub fn count(set: &SidecarSet, pods: impl IntoIterator<Item = Arc<Pod>>) -> SidecarSetStatus {
    let (name, hash) = (set.name_any(), spec_hash(set));
    let mut status = SidecarSetStatus {
        observed_generation: set.metadata.generation.unwrap_or_default(),
        ..SidecarSetStatus::default()
    };
    for pod in pods {
        let namespace = pod.namespace().unwrap_or_default();
        if !is_active(&pod) || !selects(set, &pod, &namespace) {
            continue;
        }
        let is_updated = injected(&pod)
            .get(&name)
            .is_some_and(|one| one.hash == hash);
        status.matched_pods += 1;
        status.updated_pods += i32::from(is_updated);
        status.ready_pods += i32::from(is_ready(&pod));
    }
    status
}

/// Neither over nor going.
fn is_active(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

fn is_ready(pod: &Pod) -> bool {
    let Some(status) = &pod.status else {
        return false;
    };
    let mut conditions = status.conditions.iter().flatten();
    status.phase.as_deref() == Some("Running")
        && conditions.any(|one| one.type_ == "Ready" && one.status == "True")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::count;
    use crate::{HASH_ANNOTATION, SidecarSet, spec_hash};

    fn set() -> SidecarSet {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "one", "generation": 3},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "containers": [{"name": "a"}]},
        });
        serde_json::from_value(set).unwrap()
    }

    fn pod(change: impl Fn(&mut Value)) -> Arc<Pod> {
        let note = json!({"one": {"hash": spec_hash(&set())}}).to_string();
        let mut pod = json!({
            "metadata": {
                "name": "p", "namespace": "default", "labels": {"app": "web"},
                "annotations": {HASH_ANNOTATION: note},
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        change(&mut pod);
        Arc::new(serde_json::from_value(pod).unwrap())
    }

    #[test]
    fn a_pod_counts_for_what_it_is() {
        for (change, wanted) in [
            (
                Box::new(|_: &mut Value| {}) as Box<dyn Fn(&mut Value)>,
                (1, 1, 1),
            ),
            (
                Box::new(|p| p["status"]["conditions"][0]["status"] = json!("False")),
                (1, 1, 0),
            ),
            (
                Box::new(|p| p["status"]["phase"] = json!("Pending")),
                (1, 1, 0),
            ),
            (
                Box::new(|p| p["status"]["phase"] = json!("Failed")),
                (0, 0, 0),
            ),
            (
                Box::new(|p| p["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
                (0, 0, 0),
            ),
            (
                Box::new(|p| p["metadata"]["labels"]["app"] = json!("api")),
                (0, 0, 0),
            ),
            (
                Box::new(|p| p["metadata"]["namespace"] = json!("kube-system")),
                (0, 0, 0),
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][HASH_ANNOTATION] = json!("{}")),
                (1, 0, 1),
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][HASH_ANNOTATION] = json!("broken")),
                (1, 0, 1),
            ),
        ] {
            let status = count(&set(), [pod(change)]);
            let counts = (status.matched_pods, status.updated_pods, status.ready_pods);
            assert_eq!(counts, wanted);
            assert_eq!(status.observed_generation, 3);
        }
    }

    #[test]
    fn a_change_of_the_selector_leaves_updated_pods_updated() {
        let mut other = set();
        let selector = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        other.spec.selector = serde_json::from_value(selector).unwrap();
        assert_eq!(count(&other, [pod(|_| {})]).updated_pods, 1);
    }
}
