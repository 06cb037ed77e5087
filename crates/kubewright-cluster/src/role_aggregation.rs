use std::collections::BTreeSet;

use kubewright_wire::status::Status;
use serde_json::json;

use super::client::CLUSTER_ROLES;
use super::view::items;
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::aggregated_rules;

const ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

/// Fills cluster roles that are made of others, such as `admin`, `edit` and `view`.
#[derive(Debug, Default)]
pub(super) struct RoleAggregation {
    /// The roles with an aggregation rule.
    made: BTreeSet<Key>,
    work: Work<Key>,
}

impl Controller for RoleAggregation {
    fn observe(&mut self, event: &Event<'_>) {
        if event.key.resource() != ROLES {
            return;
        }
        let is_made = |role: &Object| role.value().get("aggregationRule").is_some();
        match event.now.is_some_and(|role| is_made(role)) {
            true => self.made.insert(event.key.clone()),
            false => self.made.remove(event.key),
        };
        for role in &self.made {
            self.work.add(role.clone());
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(role) => fill(cluster, &role).await,
            None => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

async fn fill(cluster: &Client, role: &Object) -> Result<(), Status> {
    let snapshot = cluster.store().snapshot();
    let roles: Vec<_> = snapshot
        .list(ROLES, None)
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
        "kind": "ClusterRole",
        "metadata": {"name": role.name()},
    });
    if !rules.is_empty() {
        fields["rules"] = rules.into();
    }
    cluster.apply(&CLUSTER_ROLES, role, fields).await
}
