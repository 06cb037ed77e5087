//! The status of a PodDisruptionBudget.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::store::Object;
use serde_json::{Map, Value, json};

use crate::framework::{condition, number, text, with_condition};

/// How long a Pod may take to be deleted after its eviction was allowed (`DeletionTimeout` of
/// pkg/controller/disruption).
const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_secs(120);

/// The counts of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetCounts {
    pub(super) expected: i64,
    pub(super) desired: i64,
    pub(super) healthy: i64,
}

/// The Pods whose eviction was allowed and that still exist, with the time of the eviction.
pub(super) fn disrupted_pods(
    budget: &Object,
    pods: &[Arc<Object>],
    now: Timestamp,
) -> Map<String, Value> {
    let is_pending = |(name, time): &(&String, &Value)| {
        let pod = pods.iter().find(|pod| pod.name() == name.as_str());
        pod.is_some_and(|pod| !pod.is_terminating())
            && deletion_deadline(time).is_some_and(|deadline| deadline > now)
    };
    stored_disrupted(budget)
        .filter(is_pending)
        .map(|(name, time)| (name.clone(), time.clone()))
        .collect()
}

fn stored_disrupted(budget: &Object) -> impl Iterator<Item = (&String, &Value)> {
    let disrupted = budget.value().pointer("/status/disruptedPods");
    disrupted.and_then(Value::as_object).into_iter().flatten()
}

fn deletion_deadline(evicted: &Value) -> Option<Timestamp> {
    let evicted: Timestamp = evicted.as_str()?.parse().ok()?;
    evicted.checked_add(DELETION_TIMEOUT).ok()
}

/// How long until the first of the disrupted Pods no longer counts as disrupted.
pub(super) fn time_to_expiry(disrupted: &Map<String, Value>, now: Timestamp) -> Option<Duration> {
    let deadlines = disrupted.values().filter_map(deletion_deadline);
    let wait = deadlines.min()?.duration_since(now);
    Duration::try_from(wait).ok()
}

/// The status that a budget should have, as a merge patch; `None` when it has it already.
pub(super) fn next_status(
    budget: &Object,
    counts: BudgetCounts,
    disrupted: &Map<String, Value>,
    now: &str,
) -> Option<Value> {
    let value = budget.value();
    let allowed = match counts.expected {
        ..=0 => 0,
        _ => (counts.healthy - counts.desired).max(0),
    };
    let (status, reason) = match allowed {
        0 => ("False", "InsufficientPods"),
        _ => ("True", "SufficientPods"),
    };
    let fields = [
        ("currentHealthy", counts.healthy),
        ("desiredHealthy", counts.desired),
        ("expectedPods", counts.expected),
        ("disruptionsAllowed", allowed),
        ("observedGeneration", budget.generation()),
    ];
    let stored: Map<String, Value> = stored_disrupted(budget)
        .map(|(name, time)| (name.clone(), time.clone()))
        .collect();
    let is_stored =
        |(field, count): &(&str, i64)| number(value, &format!("/status/{field}")) == Some(*count);
    let is_current = fields.iter().all(is_stored)
        && stored == *disrupted
        && condition(value, "DisruptionAllowed")
            .is_some_and(|old| text(old, "/status") == status && text(old, "/reason") == reason);
    if is_current {
        return None;
    }
    let mut patch: Map<String, Value> = fields
        .map(|(field, count)| (field.to_owned(), count.into()))
        .into_iter()
        .collect();
    patch.insert(
        "disruptedPods".to_owned(),
        disrupted_patch(&stored, disrupted),
    );
    let condition = json!({
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": "",
        "observedGeneration": budget.generation(),
        "lastTransitionTime": now,
    });
    if let Some(conditions) = with_condition(value, condition) {
        patch.insert("conditions".to_owned(), conditions.into());
    }
    Some(patch.into())
}

/// A merge patch from the stored disrupted Pods to the present ones: it removes a Pod only by a
/// null.
fn disrupted_patch(stored: &Map<String, Value>, disrupted: &Map<String, Value>) -> Value {
    if disrupted.is_empty() {
        return Value::Null;
    }
    let removed = stored
        .keys()
        .filter(|name| !disrupted.contains_key(*name))
        .map(|name| (name.clone(), Value::Null));
    let mut pods = disrupted.clone();
    pods.extend(removed);
    pods.into()
}

/// The status of a budget whose expected Pods cannot be calculated; `None` when it has it already.
pub(super) fn failed_status(budget: &Object, message: &str, now: &str) -> Option<Value> {
    let condition = json!({
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": message,
        "observedGeneration": number(budget.value(), "/status/observedGeneration"),
        "lastTransitionTime": now,
    });
    let conditions = with_condition(budget.value(), condition)?;
    Some(json!({"disruptionsAllowed": 0, "conditions": conditions}))
}
