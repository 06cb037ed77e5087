use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::Quantity;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::client::QUOTAS;
use super::view::status_patch;
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::quota::{is_in_scope, quota_usage};

const QUOTA_KEYS: &str = "resourcequotas";
/// How long a count stands that nothing has put in question.
const RECOUNT: Duration = Duration::from_secs(300);

/// Counts for each ResourceQuota what its namespace uses (pkg/controller/resourcequota).
///
/// Admission adds to the count before an object is stored; here it is made when a quota comes and
/// put right when objects go or use less. A count that admission changed is left alone: the object
/// that it is about may not be stored yet.
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
            if is_defined_anew(event) {
                self.work.add(event.key.clone());
            }
        }
        let Some(quotas) = self.quotas.get(namespace).filter(|all| !all.is_empty()) else {
            return;
        };
        if let Some(before) = event.before
            && is_used_otherwise(event.key.resource(), before, event.now.map(Arc::as_ref))
        {
            for quota in quotas {
                self.work.add(quota.clone());
            }
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let Some(quota) = cluster.store().get(&key) else {
            return Step::Worked;
        };
        let result = count(cluster, &key, &quota).await;
        self.work.put_off(Instant::now() + RECOUNT, key.clone());
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

/// Whether a quota is new or limits something else than before.
fn is_defined_anew(event: &Event<'_>) -> bool {
    let spec = |quota: &Arc<Object>| quota.value()["spec"].clone();
    event.now.is_some() && event.now.map(spec) != event.before.map(spec)
}

/// Whether an object that was stored uses something else now, or nothing any more.
fn is_used_otherwise(resource: &str, before: &Object, now: Option<&Object>) -> bool {
    now.is_none_or(|now| {
        let before = quota_usage(resource, before.value());
        let now = quota_usage(resource, now.value());
        let is_same = |(name, amount): (&String, &Quantity)| {
            let other = now.get(name);
            other.is_some_and(|other| other.cmp_amount(amount).is_eq())
        };
        before.len() != now.len() || !before.iter().all(is_same)
    })
}

async fn count(cluster: &Client, key: &Key, quota: &Object) -> Result<(), Status> {
    let value = quota.value();
    let Some(hard) = value["spec"]["hard"].as_object() else {
        return Ok(());
    };
    let used = usage(cluster, key.namespace().unwrap_or_default(), value, hard);
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
fn usage(cluster: &Client, namespace: &str, quota: &Value, hard: &Map<String, Value>) -> Value {
    let mut sums: BTreeMap<String, Quantity> = hard
        .keys()
        .map(|name| (name.clone(), Quantity::zero()))
        .collect();
    let snapshot = cluster.store().snapshot();
    let inside = snapshot
        .iter()
        .filter(|(key, _)| key.namespace() == Some(namespace));
    let counted = inside.filter(|(key, object)| is_in_scope(quota, key.resource(), object.value()));
    for (key, object) in counted {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::super::{Controller, Event};
    use super::ResourceQuotas;
    use kubewright_apiserver::store::{Key, Object};

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn what_admission_counted_is_not_counted_again_before_it_is_stored() {
        let mut controller = ResourceQuotas::default();
        let quota = Key::new("resourcequotas", Some("x"), "q");
        let secret = Key::new("secrets", Some("x"), "a");
        let counted = |used: &str| {
            let value = json!({"metadata": {}, "spec": {"hard": {"count/secrets": "1"}},
                "status": {"used": {"count/secrets": used}}});
            object(value)
        };
        let plain = object(json!({"metadata": {}}));
        let mut is_recounted = |key: &Key, before: Option<&Arc<Object>>, now: Option<&_>| {
            controller.observe(&Event { key, before, now });
            controller.work.next().is_some()
        };
        assert!(is_recounted(&quota, None, Some(&counted("0"))));
        assert!(!is_recounted(
            &quota,
            Some(&counted("0")),
            Some(&counted("1"))
        ));
        assert!(!is_recounted(&secret, None, Some(&plain)));
        assert!(!is_recounted(&secret, Some(&plain), Some(&plain)));
        assert!(is_recounted(&secret, Some(&plain), None));
        assert!(!is_recounted(&quota, Some(&counted("1")), None));
    }
}
