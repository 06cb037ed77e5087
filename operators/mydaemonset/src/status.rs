//! The status of a set: its counts and its conditions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::condition;
use kubewright::prelude::*;

use crate::node::Placement;
use crate::observed::ObservedState;
use crate::{MyDaemonSetStatus, pod};

/// Adds one node to the counts. If it has several active Pods, the oldest one counts.
pub(crate) fn count(
    status: &mut MyDaemonSetStatus,
    placement: Placement,
    active: &[&Arc<Pod>],
    observed: &ObservedState<'_>,
    revision: &str,
) {
    let oldest = active
        .iter()
        .min_by_key(|pod| (pod::created_at(pod), pod.name_any()));
    if placement != Placement::Required {
        status.misscheduled_replicas += i32::from(oldest.is_some());
        return;
    }
    status.desired_replicas += 1;
    let Some(oldest) = oldest else { return };
    let wait = observed.until_available(oldest);
    let is_available = wait.is_some_and(|wait| wait.is_zero());
    status.current_replicas += 1;
    status.updated_replicas += i32::from(pod::is_current(oldest, revision));
    status.ready_replicas += i32::from(wait.is_some());
    status.available_replicas += i32::from(is_available);
}

/// The condition `Available`: whether each node that should run a Pod has an available one.
pub(crate) fn available(status: &MyDaemonSetStatus) -> Condition {
    match status.unavailable_replicas {
        0 => condition(
            "Available",
            true,
            "AllNodesAvailable",
            "each node has an available Pod",
        ),
        unavailable => {
            let message = format!("{unavailable} nodes have no available Pod");
            condition("Available", false, "NodesUnavailable", message)
        }
    }
}

/// The condition `Progressing`: whether a change is still being rolled out.
pub(crate) fn progressing(status: &MyDaemonSetStatus) -> Condition {
    let (updated, desired) = (status.updated_replicas, status.desired_replicas);
    let is_complete = updated == desired && status.unavailable_replicas == 0;
    let reason = if is_complete {
        "Complete"
    } else {
        "RollingOut"
    };
    let message = format!("{updated} of {desired} nodes run the current spec");
    condition("Progressing", !is_complete, reason, message)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

    use super::{available, progressing};
    use crate::MyDaemonSetStatus;

    /// The conditions of a set with three nodes.
    fn conditions(updated_nodes: i32, available_nodes: i32) -> [Condition; 2] {
        let status = MyDaemonSetStatus {
            desired_replicas: 3,
            updated_replicas: updated_nodes,
            available_replicas: available_nodes,
            unavailable_replicas: 3 - available_nodes,
            ..MyDaemonSetStatus::default()
        };
        [available(&status), progressing(&status)]
    }

    #[test]
    fn set_progresses_until_all_nodes_are_available_with_the_current_spec() {
        let [available, progressing] = conditions(1, 2);
        assert_eq!(available.status, "False");
        assert_eq!(available.message, "1 nodes have no available Pod");
        assert_eq!(progressing.status, "True");
        assert_eq!(progressing.message, "1 of 3 nodes run the current spec");
        let [available, progressing] = conditions(3, 3);
        assert_eq!(available.status, "True");
        assert_eq!(progressing.status, "False");
    }
}
