//! Sets, Pods and injections for tests.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kubewright::prelude::*;
use serde_json::{Value, json};

use super::{InjectionContext, inject};
use crate::pod_namespace::PodNamespace;
use crate::{Error, SidecarSet};

/// The sets and revisions that exist when a Pod is created.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) sets: Vec<SidecarSet>,
    pub(crate) revisions: Vec<Arc<ControllerRevision>>,
}

impl Case {
    /// Injects the sets into the Pod, and asserts that a second injection changes nothing.
    pub(crate) fn inject(&self, pod: Pod) -> Result<Pod, Error> {
        let context = InjectionContext {
            namespace: PodNamespace {
                name: "default",
                labels: None,
            },
            sets: self.sets.iter().cloned().map(Arc::new).collect(),
            revisions: self.revisions.clone(),
        };
        let injected = inject(pod, &context)?;
        let again = inject(injected.clone(), &context)?;
        assert_eq!(again, injected, "a second injection changes the Pod");
        Ok(injected)
    }

    /// Returns the names of the containers after the injection, in their order.
    pub(crate) fn names(&self, pod: Pod) -> String {
        let containers = self.inject(pod).unwrap().spec.unwrap().containers;
        let names: Vec<_> = containers
            .into_iter()
            .map(|container| container.name)
            .collect();
        names.join(" ")
    }
}

/// Builds a set that selects the Pods of [`pod_of`].
pub(crate) fn set_of(name: &str, mut spec: Value) -> SidecarSet {
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    let set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(set).unwrap()
}

/// Builds a Pod with one container and this metadata.
pub(crate) fn pod_of(mut metadata: Value) -> Pod {
    metadata["labels"] = json!({"app": "web"});
    let pod = json!({"metadata": metadata, "spec": {"containers": [{"name": "app"}]}});
    serde_json::from_value(pod).unwrap()
}

/// Builds a Pod with this spec.
pub(crate) fn pod_with(spec: Value) -> Pod {
    let pod = json!({"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": spec});
    serde_json::from_value(pod).unwrap()
}
