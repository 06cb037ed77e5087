use std::collections::BTreeSet;

use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::cluster::CLUSTER_ROLES;
use super::selection::{label_selector, selects};
use super::view::items;
use super::{Cluster, Controller, Event, Step, Work};
use crate::store::{Key, Object};

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

    async fn step(&mut self, cluster: &Cluster) -> Step {
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

async fn fill(cluster: &Cluster, role: &Object) -> Result<(), Status> {
    let Some(rules) = gather(cluster, role) else {
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

/// The rules of all roles that are selected, each once; none when a selector cannot be read.
fn gather(cluster: &Cluster, role: &Object) -> Option<Vec<Value>> {
    let snapshot = cluster.store().snapshot();
    let mut rules: Vec<Value> = Vec::new();
    for selector in items(role.value(), "/aggregationRule/clusterRoleSelectors") {
        let selector = label_selector(Some(selector))?;
        let selected = snapshot
            .list(ROLES, None)
            .filter(|other| other.name() != role.name() && selects(&selector, other.value()));
        for rule in selected.flat_map(|other| items(other.value(), "/rules")) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    Some(rules)
}
