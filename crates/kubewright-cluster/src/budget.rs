use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_core::LabelSelector;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::client::BUDGETS;
use super::events::Report;
use super::owned::controller_of;
use super::portion::{Rounding, portion};
use super::selection::{label_selector, selects};
use super::view::{condition, is_true, number, status_patch, text, with_condition};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

const BUDGET_KEYS: &str = "poddisruptionbudgets.policy";

/// How long a Pod whose eviction was granted may take to be deleted (`DeletionTimeout` of
/// pkg/controller/disruption).
const EVICTION: SignedDuration = SignedDuration::from_secs(120);

/// Says of each PodDisruptionBudget how many Pods may be evicted.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    selectors: BTreeMap<Key, LabelSelector>,
    /// The Pods of each namespace.
    pods: BTreeMap<String, BTreeSet<Key>>,
    work: Work<Key>,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    expected: i64,
    desired: i64,
    healthy: i64,
}

impl Controller for Budgets {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            BUDGET_KEYS => {
                let selector =
                    |budget: &Object| label_selector(budget.value().pointer("/spec/selector"));
                match event.now.and_then(|budget| selector(budget)) {
                    Some(selector) => self.selectors.insert(event.key.clone(), selector),
                    None => self.selectors.remove(event.key),
                };
                if event.now.is_some() {
                    self.work.add(event.key.clone());
                }
            }
            "pods" => self.observe_pod(event),
            "replicasets.apps" | "deployments.apps" => self.wake(event.key.namespace(), |_| true),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(budget) => self.sync(cluster, &key, &budget).await,
            None => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

impl Budgets {
    fn observe_pod(&mut self, event: &Event<'_>) {
        let namespace = event.key.namespace();
        let pods = self
            .pods
            .entry(namespace.unwrap_or_default().to_owned())
            .or_default();
        match event.now {
            Some(_) => pods.insert(event.key.clone()),
            None => pods.remove(event.key),
        };
        for pod in [event.before, event.now].into_iter().flatten() {
            self.wake(namespace, |selector| selects(selector, pod.value()));
        }
    }

    fn wake(&mut self, namespace: Option<&str>, concerns: impl Fn(&LabelSelector) -> bool) {
        let budgets = self.selectors.iter();
        let concerned = budgets.filter(|(key, one)| key.namespace() == namespace && concerns(one));
        for (key, _) in concerned {
            self.work.add(key.clone());
        }
    }

    async fn sync(&mut self, cluster: &Client, key: &Key, budget: &Object) -> Result<(), Status> {
        let namespace = budget.namespace().unwrap_or_default();
        // Without a selector nothing is selected.
        let selector = self.selectors.get(key);
        let keys = self.pods.get(namespace).into_iter().flatten();
        let pods: Vec<_> = keys
            .filter_map(|key| cluster.store().get(key))
            .filter(|pod| selector.is_some_and(|one| selects(one, pod.value())))
            .collect();
        if pods.is_empty() {
            let report = Report::normal("NoPods", "No matching pods found");
            cluster.report(&BUDGETS, budget, report).await;
        }
        let (expected, desired) = match expectation(cluster, budget, &pods) {
            Ok(found) => found,
            Err(why) => return fail(cluster, budget, &why).await,
        };
        let now = cluster.now();
        let disrupted = disrupted(budget, &pods, now);
        if let Some(wait) = next_look(&disrupted, now) {
            self.work.add_at(Instant::now() + wait, key.clone());
        }
        let healthy = pods
            .iter()
            .filter(|pod| {
                !pod.is_terminating()
                    && !disrupted.contains_key(pod.name())
                    && is_true(pod.value(), "Ready")
            })
            .count();
        let count = Count {
            expected,
            desired,
            healthy: i64::try_from(healthy).unwrap_or(i64::MAX),
        };
        match next_status(budget, count, &disrupted, &cluster.timestamp()) {
            None => Ok(()),
            Some(status) => {
                let patch = status_patch(budget.value(), &status);
                cluster.patch_status(&BUDGETS, budget, patch).await
            }
        }
    }
}

/// How many Pods there should be, and how many of them healthy (`getExpectedPodCount`).
fn expectation(
    cluster: &Client,
    budget: &Object,
    pods: &[Arc<Object>],
) -> Result<(i64, i64), String> {
    let spec = |field: &str| budget.value().pointer(&format!("/spec/{field}"));
    let share = |written: &Value, total| {
        portion(written, total, Rounding::Up)
            .ok_or_else(|| format!("invalid value for IntOrString: {written}"))
    };
    if let Some(most) = spec("maxUnavailable") {
        let expected = scale(cluster, pods)?;
        let most = share(most, expected)?;
        return Ok((expected, (expected - most).max(0)));
    }
    let count = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    match spec("minAvailable") {
        None => Ok((0, 0)),
        Some(least) if least.is_string() => {
            let expected = scale(cluster, pods)?;
            Ok((expected, share(least, expected)?))
        }
        Some(least) => Ok((count, least.as_i64().unwrap_or_default())),
    }
}

/// How many Pods the controllers of these Pods are asked for together; Pods without a controller
/// do not count.
fn scale(cluster: &Client, pods: &[Arc<Object>]) -> Result<i64, String> {
    let mut scales = BTreeMap::new();
    for pod in pods {
        let Some(owner) = controller_of(pod) else {
            continue;
        };
        let get = |plural: &str, name: &str| {
            let key = Key::new(plural, pod.namespace(), name);
            cluster.store().get(&key)
        };
        let found = match owner.kind.as_str() {
            "ReplicaSet" => get("replicasets.apps", &owner.name).map(|set| {
                let deployment = controller_of(&set).filter(|one| one.kind == "Deployment");
                let deployment = deployment.and_then(|one| get("deployments.apps", &one.name));
                deployment.unwrap_or(set)
            }),
            "StatefulSet" => get("statefulsets.apps", &owner.name),
            "ReplicationController" => get("replicationcontrollers", &owner.name),
            _ => None,
        };
        let Some(controller) = found else {
            return Err(format!("found no controllers for pod {:?}", pod.name()));
        };
        let replicas = number(controller.value(), "/spec/replicas").unwrap_or(1);
        scales.insert(controller.uid().to_owned(), replicas);
    }
    Ok(scales.values().sum())
}

/// The Pods whose eviction was granted and that are still there, with the time of it.
fn disrupted(budget: &Object, pods: &[Arc<Object>], now: Timestamp) -> Map<String, Value> {
    let granted = budget.value().pointer("/status/disruptedPods");
    let granted = granted.and_then(Value::as_object).into_iter().flatten();
    let is_pending = |(name, time): &(&String, &Value)| {
        let pod = pods.iter().find(|pod| pod.name() == name.as_str());
        pod.is_some_and(|pod| !pod.is_terminating())
            && deadline(time).is_some_and(|deadline| deadline > now)
    };
    granted
        .filter(is_pending)
        .map(|(name, time)| (name.clone(), time.clone()))
        .collect()
}

fn deadline(granted: &Value) -> Option<Timestamp> {
    let granted: Timestamp = granted.as_str()?.parse().ok()?;
    granted.checked_add(EVICTION).ok()
}

fn next_look(disrupted: &Map<String, Value>, now: Timestamp) -> Option<Duration> {
    let deadlines = disrupted.values().filter_map(deadline);
    let wait = deadlines.min()?.duration_since(now);
    Duration::try_from(wait).ok()
}

/// The status that a budget should have; none when it has it.
fn next_status(
    budget: &Object,
    count: Count,
    disrupted: &Map<String, Value>,
    now: &str,
) -> Option<Value> {
    let value = budget.value();
    let allowed = match count.expected {
        ..=0 => 0,
        _ => (count.healthy - count.desired).max(0),
    };
    let (status, reason) = match allowed {
        0 => ("False", "InsufficientPods"),
        _ => ("True", "SufficientPods"),
    };
    let said = json!({
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": "",
        "observedGeneration": budget.generation(),
        "lastTransitionTime": now,
    });
    let counts = [
        ("currentHealthy", count.healthy),
        ("desiredHealthy", count.desired),
        ("expectedPods", count.expected),
        ("disruptionsAllowed", allowed),
        ("observedGeneration", budget.generation()),
    ];
    let stored = |field: &str| number(value, &format!("/status/{field}"));
    let old = value.pointer("/status/disruptedPods");
    let old = old.and_then(Value::as_object).cloned().unwrap_or_default();
    let is_same = counts
        .iter()
        .all(|(field, count)| stored(field) == Some(*count))
        && old == *disrupted
        && condition(value, "DisruptionAllowed")
            .is_some_and(|old| text(old, "/status") == status && text(old, "/reason") == reason);
    if is_same {
        return None;
    }
    let mut patch = Map::new();
    for (field, count) in counts {
        patch.insert(field.to_owned(), count.into());
    }
    let mut pods = disrupted.clone();
    // A merge patch takes away only what it names.
    pods.extend(
        old.keys()
            .filter(|name| !disrupted.contains_key(*name))
            .map(|name| (name.clone(), Value::Null)),
    );
    let pods = match disrupted.is_empty() {
        true => Value::Null,
        false => pods.into(),
    };
    patch.insert("disruptedPods".to_owned(), pods);
    if let Some(conditions) = with_condition(value, said) {
        patch.insert("conditions".to_owned(), conditions.into());
    }
    Some(patch.into())
}

/// Nothing is known, so nothing may be evicted (`failSafe`).
async fn fail(cluster: &Client, budget: &Object, why: &str) -> Result<(), Status> {
    let message = format!("Failed to calculate the number of expected pods: {why}");
    let report = Report::warning("CalculateExpectedPodCountFailed", message);
    cluster.report(&BUDGETS, budget, report).await;
    let generation = number(budget.value(), "/status/observedGeneration");
    let said = json!({
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": why,
        "observedGeneration": generation,
        "lastTransitionTime": cluster.timestamp(),
    });
    let Some(conditions) = with_condition(budget.value(), said) else {
        return Ok(());
    };
    let status = json!({"disruptionsAllowed": 0, "conditions": conditions});
    let patch = status_patch(budget.value(), &status);
    cluster.patch_status(&BUDGETS, budget, patch).await
}
