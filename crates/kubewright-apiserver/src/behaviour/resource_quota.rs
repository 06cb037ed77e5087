use std::collections::{BTreeMap, BTreeSet};

use kubewright_wire::schema::Quantity;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::cluster::QUOTAS;
use super::view::status_patch;
use super::{Cluster, Controller, Event, Step, Work};
use crate::admission::quota_usage;
use crate::store::{Key, Object};

const QUOTA_KEYS: &str = "resourcequotas";

/// Counts for each ResourceQuota what its namespace uses (pkg/controller/resourcequota).
///
/// Admission adds to the count; here it is put right when objects go, and made when a quota comes.
#[derive(Debug, Default)]
pub(super) struct ResourceQuotas {
    /// The quotas of each namespace.
    quotas: BTreeMap<String, BTreeSet<Key>>,
    work: Work<Key>,
}

impl Controller for ResourceQuotas {
    fn observe(&mut self, event: &Event<'_>) {
        let Some(namespace) = event.key.namespace() else {
            return;
        };
        if event.key.resource() == QUOTA_KEYS {
            let quotas = self.quotas.entry(namespace.to_owned()).or_default();
            match event.now {
                Some(_) => quotas.insert(event.key.clone()),
                None => quotas.remove(event.key),
            };
        }
        for quota in self.quotas.get(namespace).into_iter().flatten() {
            self.work.add(quota.clone());
        }
    }

    async fn step(&mut self, cluster: &Cluster) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(quota) => count(cluster, &key, &quota).await,
            None => Ok(()),
        };
        self.work.settle(key, result);
        Step::Worked
    }
}

async fn count(cluster: &Cluster, key: &Key, quota: &Object) -> Result<(), Status> {
    let value = quota.value();
    let Some(hard) = value["spec"]["hard"].as_object() else {
        return Ok(());
    };
    let has_scopes = ["scopes", "scopeSelector"]
        .iter()
        .any(|field| value["spec"].get(*field).is_some());
    if has_scopes {
        return Ok(());
    }
    let used = usage(cluster, key.namespace().unwrap_or_default(), hard);
    let status = json!({"hard": hard, "used": used});
    let same = value["status"]["hard"] == status["hard"] && value["status"]["used"] == used;
    if same {
        return Ok(());
    }
    cluster
        .patch_status(&QUOTAS, quota, status_patch(value, &status))
        .await
}

/// How much of each thing that is limited the namespace uses.
fn usage(cluster: &Cluster, namespace: &str, hard: &Map<String, Value>) -> Value {
    let mut sums: BTreeMap<String, Quantity> = hard
        .keys()
        .map(|name| (name.clone(), Quantity::zero()))
        .collect();
    let snapshot = cluster.store().snapshot();
    let inside = snapshot
        .iter()
        .filter(|(key, _)| key.namespace() == Some(namespace));
    for (key, object) in inside {
        for (name, amount) in quota_usage(key.resource(), object.value()) {
            if let Some(sum) = sums.get_mut(&name) {
                *sum = sum.plus(amount);
            }
        }
    }
    let pairs = sums.into_iter();
    Value::Object(
        pairs
            .map(|(name, sum)| (name, json!(sum.to_string())))
            .collect(),
    )
}
