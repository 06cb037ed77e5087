//! How the simulated kubelets treat Pods, beside what the objects specify.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubewright_apiserver::store::Object;
use tokio::sync::watch;

use super::pod_selector::PodSelector;

/// What happens to a Pod after it is bound to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PodBehavior {
    /// It runs, is ready, and ends when it is deleted.
    #[default]
    Normal,
    /// Its containers are never created: it stays Pending. A Pod that runs already is not affected.
    Hold,
    /// It runs and is not ready.
    NeverReady,
    /// It fails with the given reason, such as `Evicted`.
    Fail(String),
    /// Its containers fail repeatedly, each time after a longer backoff.
    CrashLoop,
    /// Its containers exit with code 0: the Pod succeeds unless its restart policy is `Always`.
    Complete,
    /// It runs, and keeps running after it is deleted.
    IgnoreTermination,
}

/// The behavior of Pods and the stopped kubelets.
#[derive(Clone, Debug, Default)]
pub(super) struct KubeletSettings {
    /// The latest setting is last.
    pub(super) behaviors: Vec<(PodSelector, PodBehavior)>,
    /// Nodes whose kubelet is stopped.
    pub(super) stopped: BTreeSet<String>,
}

impl KubeletSettings {
    /// The behavior of a Pod: that of the latest setting that selects it.
    pub(super) fn behavior(&self, pod: &Object) -> PodBehavior {
        let mut latest_first = self.behaviors.iter().rev();
        let found = latest_first.find(|(selector, _)| selector.matches(pod));
        found
            .map(|(_, behavior)| behavior.clone())
            .unwrap_or_default()
    }

    /// Whether the kubelet of a node is stopped.
    pub(super) fn is_stopped(&self, node: &str) -> bool {
        self.stopped.contains(node)
    }
}

/// The settings of all kubelets of a cluster. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct SharedKubeletSettings {
    pub(super) settings: Arc<watch::Sender<KubeletSettings>>,
}

impl Default for SharedKubeletSettings {
    fn default() -> Self {
        Self {
            settings: Arc::new(watch::Sender::new(KubeletSettings::default())),
        }
    }
}

impl SharedKubeletSettings {
    /// A copy that is changed on its own.
    pub(crate) fn fork(&self) -> Self {
        let settings = self.settings.borrow().clone();
        Self {
            settings: Arc::new(watch::Sender::new(settings)),
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<KubeletSettings> {
        self.settings.subscribe()
    }
}
