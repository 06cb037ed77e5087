//! The cluster role aggregation controller: fills ClusterRoles that aggregate others, such as
//! `admin`, `edit` and `view`.

use std::collections::BTreeSet;

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::aggregated_rules;
use kubewright_kinds::rbac;
use kubewright_wire::status::Status;
use serde_json::json;

use crate::framework::{CLUSTER_ROLES, Client, ControlLoop, ObjectChange, Step, WorkQueue, items};

/// Keeps the rules of ClusterRoles with an aggregation rule.
#[derive(Debug, Default)]
pub(crate) struct ClusterRoleAggregationController {
    /// The roles with an aggregation rule.
    aggregating: BTreeSet<Key>,
    queue: WorkQueue<Key>,
}

impl ControlLoop for ClusterRoleAggregationController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if !change.key.is_of(&rbac::CLUSTER_ROLE) {
            return;
        }
        let aggregates = |role: &Object| role.value().get("aggregationRule").is_some();
        if change.after.is_some_and(|role| aggregates(role)) {
            self.aggregating.insert(change.key.clone());
        } else {
            self.aggregating.remove(change.key);
        }
        for role in &self.aggregating {
            self.queue.add(role.clone());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(role) => aggregate(client, &role).await,
            None => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

async fn aggregate(client: &Client, role: &Object) -> Result<(), Status> {
    let snapshot = client.store().snapshot();
    let roles: Vec<_> = snapshot
        .list(rbac::CLUSTER_ROLE.resource_id(), None)
        .map(|role| role.value())
        .collect();
    let Some(rules) = aggregated_rules(role.value(), roles.into_iter()) else {
        return Ok(());
    };
    if rules == items(role.value(), "/rules") {
        return Ok(());
    }
    let mut fields = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": rbac::CLUSTER_ROLE.kind,
        "metadata": {"name": role.name()},
    });
    if !rules.is_empty() {
        fields["rules"] = rules.into();
    }
    client.apply(&CLUSTER_ROLES, role, fields).await
}
