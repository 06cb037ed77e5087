//! Which Pods of the simulated kubelets a setting applies to.

use kubewright_apiserver::store::Object;
use kubewright_core::LabelSelector;

use crate::framework::node_name;

/// Selects Pods: those that match everything that is named here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSelector {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    node: Option<String>,
    labels: LabelSelector,
}

impl PodSelector {
    /// Selects every Pod.
    pub fn all() -> Self {
        Self::default()
    }

    /// Selects only Pods of a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Selects only Pods with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Selects only the Pod with a uid, and no later Pod of its name.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Selects only Pods of a node.
    #[must_use]
    pub fn on_node(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }

    /// Selects only Pods with matching labels.
    #[must_use]
    pub fn with_labels(mut self, labels: LabelSelector) -> Self {
        self.labels = labels;
        self
    }

    pub(super) fn matches(&self, pod: &Object) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is(&self.namespace, pod.namespace().unwrap_or_default())
            && is(&self.name, pod.name())
            && is(&self.uid, pod.uid())
            && is(&self.node, node_name(pod.value()))
            && self.labels.matches(|key| pod.label(key))
    }
}
