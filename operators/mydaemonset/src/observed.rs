//! The observed state: all that a plan depends on.

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::jiff::Timestamp;
use kubewright::List;
use kubewright::prelude::*;

use crate::backoff::FailedPodsBackoff;
use crate::{MyDaemonSet, pod};

/// What the operator knows about one set at one time.
#[derive(Clone, Copy, Debug)]
pub struct ObservedState<'a> {
    /// The set.
    pub set: &'a MyDaemonSet,
    /// All nodes of the cluster.
    pub nodes: &'a List<Node>,
    /// The Pods that the set owns.
    pub pods: &'a List<Pod>,
    /// Where Pods have failed before.
    pub backoff: &'a FailedPodsBackoff,
    /// The current time.
    pub now: Timestamp,
}

impl ObservedState<'_> {
    /// Returns the time until the Pod counts as available, or none while it is not ready.
    pub(crate) fn until_available(&self, pod: &Pod) -> Option<Duration> {
        let elapsed = self.now.duration_since(pod::ready_since(pod)?);
        // Zero where it is negative: the clocks of the node and of the operator differ.
        let ready = Duration::try_from(elapsed).unwrap_or_default();
        let required = Duration::from_secs(self.set.spec.min_ready_seconds.into());
        Some(required.saturating_sub(ready))
    }
}
