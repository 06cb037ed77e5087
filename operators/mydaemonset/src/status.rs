//! How things stand, in numbers and in conditions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::condition;
use kubewright::prelude::*;

use crate::node::Role;
use crate::plan::{Situation, made, until_available};
use crate::{MyDaemonSetStatus, pod};

/// Counts one node; the oldest of the Pods that stay on it speaks for it.
pub(crate) fn count(
    status: &mut MyDaemonSetStatus,
    role: Role,
    staying: &[&Arc<Pod>],
    situation: &Situation<'_>,
    revision: &str,
) {
    let oldest = staying.iter().min_by_key(|pod| (made(pod), pod.name_any()));
    if role != Role::Runs {
        status.misscheduled_replicas += i32::from(oldest.is_some());
        return;
    }
    status.desired_replicas += 1;
    let Some(oldest) = oldest else { return };
    let rest = until_available(oldest, situation);
    let is_available = rest.is_some_and(|rest| rest.is_zero());
    status.current_replicas += 1;
    status.updated_replicas += i32::from(pod::is_current(oldest, revision));
    status.ready_replicas += i32::from(rest.is_some());
    status.available_replicas += i32::from(is_available);
}

/// Whether each node that should run a Pod has one that serves.
pub(crate) fn available(status: &MyDaemonSetStatus) -> Condition {
    match status.unavailable_replicas {
        0 => condition(
            "Available",
            true,
            "AllNodesServe",
            "each node has an available Pod",
        ),
        waiting => {
            let message = format!("{waiting} nodes have no available Pod");
            condition("Available", false, "NodesWait", message)
        }
    }
}

/// Whether something is still to be done.
pub(crate) fn progressing(status: &MyDaemonSetStatus) -> Condition {
    let (updated, desired) = (status.updated_replicas, status.desired_replicas);
    let is_complete = updated == desired && status.unavailable_replicas == 0;
    let reason = if is_complete {
        "Complete"
    } else {
        "RollingOut"
    };
    let message = format!("{updated} of {desired} nodes run the present spec");
    condition("Progressing", !is_complete, reason, message)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
    use kubewright::prelude::*;

    use super::{available, progressing};
    use crate::MyDaemonSetStatus;

    fn conditions(updated: i32, available_ones: i32) -> [(String, String); 2] {
        let status = MyDaemonSetStatus {
            desired_replicas: 3,
            updated_replicas: updated,
            available_replicas: available_ones,
            unavailable_replicas: 3 - available_ones,
            ..MyDaemonSetStatus::default()
        };
        let text = |condition: Condition| (condition.status, condition.message);
        [text(available(&status)), text(progressing(&status))]
    }

    #[test]
    fn a_set_is_available_when_each_node_serves_and_progresses_until_all_is_new() {
        let [available, progressing] = conditions(1, 2);
        assert_eq!(available.0, "False");
        assert_eq!(available.1, "1 nodes have no available Pod");
        assert_eq!(progressing.0, "True");
        assert_eq!(progressing.1, "1 of 3 nodes run the present spec");
        let [available, progressing] = conditions(3, 3);
        assert_eq!(
            (available.0.as_str(), progressing.0.as_str()),
            ("True", "False")
        );
    }
}
