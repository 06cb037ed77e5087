//! The resource quota controller: counts what each namespace uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::Quantity;
use kubewright_kinds::core;
use kubewright_kinds::quota::{is_in_scope, quota_usage};
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::framework::{
    Client, ControlLoop, ObjectChange, RESOURCE_QUOTAS, Step, WorkQueue, status_patch,
};

/// How often a quota is counted again without a change
/// (`--resource-quota-sync-period` of kube-controller-manager).
const RESYNC_PERIOD: Duration = Duration::from_secs(300);

/// Counts for each ResourceQuota what its namespace uses (pkg/controller/resourcequota).
///
/// Admission adds to the usage before an object is stored. This controller counts the usage when a
/// quota is created, and again when objects are deleted or use less. A usage that admission has
/// changed does not trigger a count: the object that it is about may not be stored yet.
#[derive(Debug, Default)]
pub(crate) struct ResourceQuotaController {
    /// The quotas of each namespace.
    quotas: BTreeMap<String, BTreeSet<Key>>,
    queue: WorkQueue<Key>,
}

impl ControlLoop for ResourceQuotaController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        let Some(namespace) = change.key.namespace() else {
            return;
        };
        if change.key.is_of(&core::RESOURCE_QUOTA) {
            let quotas = self.quotas.entry(namespace.to_owned()).or_default();
            match change.after {
                Some(_) => quotas.insert(change.key.clone()),
                None => quotas.remove(change.key),
            };
            if is_respecified(change) {
                self.queue.add(change.key.clone());
            }
        }
        let Some(quotas) = self.quotas.get(namespace).filter(|all| !all.is_empty()) else {
            return;
        };
        if let Some(before) = change.before
            && is_usage_changed(change.key.resource(), before, change.after.map(Arc::as_ref))
        {
            for quota in quotas {
                self.queue.add(quota.clone());
            }
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let Some(quota) = client.store().get(&key) else {
            return Step::Worked;
        };
        let result = sync(client, &key, &quota).await;
        let next_sync = Instant::now() + RESYNC_PERIOD;
        self.queue.reschedule(next_sync, key.clone());
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

/// Whether a quota is new or its spec has changed.
fn is_respecified(change: &ObjectChange<'_>) -> bool {
    let spec = |quota: &Arc<Object>| quota.value()["spec"].clone();
    change.after.is_some() && change.after.map(spec) != change.before.map(spec)
}

/// Whether a stored object was deleted or now uses another amount of some resource.
fn is_usage_changed(resource: &str, before: &Object, after: Option<&Object>) -> bool {
    let Some(after) = after else {
        return true;
    };
    let usage_before = quota_usage(resource, before.value());
    let usage_after = quota_usage(resource, after.value());
    let is_same = |(name, amount): (&String, &Quantity)| {
        let other = usage_after.get(name);
        other.is_some_and(|other| other.cmp_amount(amount).is_eq())
    };
    usage_before.len() != usage_after.len() || !usage_before.iter().all(is_same)
}

async fn sync(client: &Client, key: &Key, quota: &Object) -> Result<(), Status> {
    let value = quota.value();
    let Some(hard) = value["spec"]["hard"].as_object() else {
        return Ok(());
    };
    let used = usage(client, key.namespace().unwrap_or_default(), value, hard);
    let status = json!({"hard": hard, "used": used});
    let is_current = value["status"]["hard"] == status["hard"] && value["status"]["used"] == used;
    if is_current {
        return Ok(());
    }
    let patch = status_patch(value, &status);
    client.patch_status(&RESOURCE_QUOTAS, quota, patch).await
}

/// The amount of each limited resource that the namespace uses.
fn usage(client: &Client, namespace: &str, quota: &Value, hard: &Map<String, Value>) -> Value {
    let mut sums: BTreeMap<String, Quantity> = hard
        .keys()
        .map(|name| (name.clone(), Quantity::zero()))
        .collect();
    let snapshot = client.store().snapshot();
    let counted = snapshot
        .iter()
        .filter(|(key, _)| key.namespace() == Some(namespace))
        .filter(|(key, object)| is_in_scope(quota, key.resource(), object.value()));
    for (key, object) in counted {
        for (name, amount) in quota_usage(key.resource(), object.value()) {
            if let Some(sum) = sums.get_mut(&name) {
                *sum = sum.plus(amount);
            }
        }
    }
    let used = sums
        .into_iter()
        .map(|(name, sum)| (name, json!(sum.to_string())));
    Value::Object(used.collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::{Key, Object};
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::ResourceQuotaController;
    use crate::framework::{ControlLoop, ObjectChange};

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn usage_changed_by_admission_does_not_trigger_a_count() {
        let mut controller = ResourceQuotaController::default();
        let quota = Key::new("resourcequotas", Some("x"), "q");
        let secret = Key::new("secrets", Some("x"), "a");
        let counted = |used: &str| {
            let value = json!({"metadata": {}, "spec": {"hard": {"count/secrets": "1"}},
                "status": {"used": {"count/secrets": used}}});
            object(value)
        };
        let plain = object(json!({"metadata": {}}));
        let mut is_counted = |key: &Key, before: Option<&Arc<Object>>, after: Option<&_>| {
            controller.observe(&ObjectChange { key, before, after });
            controller.queue.pop().is_some()
        };
        assert!(is_counted(&quota, None, Some(&counted("0"))));
        assert!(!is_counted(
            &quota,
            Some(&counted("0")),
            Some(&counted("1"))
        ));
        assert!(!is_counted(&secret, None, Some(&plain)));
        assert!(!is_counted(&secret, Some(&plain), Some(&plain)));
        assert!(is_counted(&secret, Some(&plain), None));
        assert!(!is_counted(&quota, Some(&counted("1")), None));
    }
}
