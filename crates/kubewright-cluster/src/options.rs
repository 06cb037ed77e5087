use std::collections::BTreeSet;

/// One thing that a cluster does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ControllerName {
    /// Pods without a node get one.
    Scheduler,
    /// Nodes become ready, Pods run, restart when their image changes, and end.
    Kubelet,
    /// What has lost all its owners is deleted; foreground and orphaning deletions are finished.
    GarbageCollector,
    /// The content of a namespace that is being deleted is deleted, then the namespace.
    NamespaceDeletion,
    /// Every namespace has the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`.
    ServiceAccounts,
    /// A node that is marked unschedulable, or is not ready, carries the taint that says so.
    NodeTaints,
    /// Pods whose node is gone are deleted.
    PodCleanup,
    /// Nodes renew their Leases every ten seconds and report their status every five minutes.
    Heartbeats,
    /// Nodes that have been silent for 50 seconds count as unreachable.
    NodeHealth,
    /// Pods that do not tolerate a NoExecute taint of their node are deleted from it.
    TaintEviction,
    /// ReplicaSets make and delete their Pods.
    ReplicaSets,
    /// Deployments make and size their ReplicaSets.
    Deployments,
    /// Services have EndpointSlices with the Pods that they select.
    EndpointSlices,
    /// PodDisruptionBudgets say how many Pods may be evicted.
    DisruptionBudgets,
    /// Client roles with an aggregation rule have the rules of those that they select.
    RoleAggregation,
    /// ResourceQuotas say what their namespace uses.
    ResourceQuotas,
    /// The others tell in Events what they did.
    Events,
}

const ALL: [ControllerName; 17] = [
    ControllerName::Scheduler,
    ControllerName::Kubelet,
    ControllerName::GarbageCollector,
    ControllerName::NamespaceDeletion,
    ControllerName::ServiceAccounts,
    ControllerName::NodeTaints,
    ControllerName::PodCleanup,
    ControllerName::Heartbeats,
    ControllerName::NodeHealth,
    ControllerName::TaintEviction,
    ControllerName::ReplicaSets,
    ControllerName::Deployments,
    ControllerName::EndpointSlices,
    ControllerName::DisruptionBudgets,
    ControllerName::RoleAggregation,
    ControllerName::ResourceQuotas,
    ControllerName::Events,
];

/// Which of them happen, and what they need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controllers {
    enabled: BTreeSet<ControllerName>,
    root_certificate: String,
}

impl Controllers {
    /// All of them.
    pub fn all() -> Self {
        Self {
            enabled: BTreeSet::from(ALL),
            root_certificate: String::new(),
        }
    }

    /// None of them: what a bare API server does.
    pub fn none() -> Self {
        Self {
            enabled: BTreeSet::new(),
            root_certificate: String::new(),
        }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, controller: ControllerName) -> Self {
        self.enabled.insert(controller);
        self
    }

    /// The same without one.
    #[must_use]
    pub fn without(mut self, controller: ControllerName) -> Self {
        self.enabled.remove(&controller);
        self
    }

    /// The certificate (PEM) that `kube-root-ca.crt` tells Pods to trust; empty by default, which
    /// is the truth for a server that is only called in process.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<String>) -> Self {
        self.root_certificate = pem.into();
        self
    }

    /// Those that happen, in a fixed order.
    pub(super) fn enabled(&self) -> impl Iterator<Item = ControllerName> {
        self.enabled.iter().copied()
    }

    pub(super) fn has(&self, controller: ControllerName) -> bool {
        self.enabled.contains(&controller)
    }

    pub(super) fn root_certificate_pem(&self) -> &str {
        &self.root_certificate
    }
}

/// All of them.
impl Default for Controllers {
    fn default() -> Self {
        Self::all()
    }
}
