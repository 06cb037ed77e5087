//! Which objects a webhook or a policy affects, and whether its failure could stop the cluster.

use kubewright_core::{Exemption, FailurePolicy, Kind};

/// The objects that a webhook or a policy affects, and the effect of its failure.
#[derive(Debug)]
pub(crate) struct Reach<'r> {
    pub(crate) kind: &'r Kind,
    pub(crate) exemption: Exemption,
    pub(crate) objects: &'r str,
    pub(crate) namespaces: &'r str,
    pub(crate) failure_policy: FailurePolicy,
}

impl Reach<'_> {
    /// Whether a failure could prevent all Pods from starting, including the operator's own.
    pub(crate) fn could_stop_the_cluster(&self) -> bool {
        let is_for_pods = self.kind.group().is_empty() && self.kind.kind == "Pod";
        let is_for_all = self.exemption == Exemption::Nothing
            && self.objects.is_empty()
            && self.namespaces.is_empty();
        is_for_pods && is_for_all && self.failure_policy == FailurePolicy::Fail
    }
}

/// Returns the namespaces that are exempt by default.
pub(crate) fn default_exemption(kind: &Kind) -> Exemption {
    if is_builtin(kind) {
        Exemption::SystemNamespaces
    } else {
        // A cluster needs no object of a custom kind to start.
        Exemption::Nothing
    }
}

fn is_builtin(kind: &Kind) -> bool {
    !kind.group().contains('.') || kind.group().ends_with(".k8s.io")
}
