//! The loop of the disruption controller: which budgets a change concerns, and their next status.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::LabelSelector;
use kubewright_kinds::{apps, core, policy};
use kubewright_wire::status::Status;
use tokio::time::Instant;

use super::expectation::expected_pods;
use super::status::{BudgetCounts, disrupted_pods, failed_status, next_status, time_to_expiry};
use crate::framework::{
    Client, ControlLoop, NewEvent, ObjectChange, POD_DISRUPTION_BUDGETS, Step, WorkQueue, is_true,
    label_selector, selects, status_patch,
};

/// Keeps the status of each PodDisruptionBudget.
#[derive(Debug, Default)]
pub(crate) struct DisruptionController {
    selectors: BTreeMap<Key, LabelSelector>,
    /// The Pods of each namespace.
    pods: BTreeMap<String, BTreeSet<Key>>,
    queue: WorkQueue<Key>,
}

impl ControlLoop for DisruptionController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&policy::POD_DISRUPTION_BUDGET) {
            self.observe_budget(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        } else if change.key.is_of(&apps::REPLICA_SET) || change.key.is_of(&apps::DEPLOYMENT) {
            self.enqueue(change.key.namespace(), |_| true);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(budget) => self.sync(client, &key, &budget).await,
            None => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

impl DisruptionController {
    fn observe_budget(&mut self, change: &ObjectChange<'_>) {
        let selector = |budget: &Object| label_selector(budget.value().pointer("/spec/selector"));
        match change.after.and_then(|budget| selector(budget)) {
            Some(selector) => self.selectors.insert(change.key.clone(), selector),
            None => self.selectors.remove(change.key),
        };
        if change.after.is_some() {
            self.queue.add(change.key.clone());
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        let namespace = change.key.namespace();
        let pods = self
            .pods
            .entry(namespace.unwrap_or_default().to_owned())
            .or_default();
        match change.after {
            Some(_) => pods.insert(change.key.clone()),
            None => pods.remove(change.key),
        };
        for pod in change.versions() {
            self.enqueue(namespace, |selector| selects(selector, pod.value()));
        }
    }

    /// Enqueues the budgets of a namespace whose selector is concerned.
    fn enqueue(&mut self, namespace: Option<&str>, is_concerned: impl Fn(&LabelSelector) -> bool) {
        let concerned = self
            .selectors
            .iter()
            .filter(|(key, selector)| key.namespace() == namespace && is_concerned(selector));
        for (key, _) in concerned {
            self.queue.add(key.clone());
        }
    }

    /// The Pods that a budget selects. A budget without a selector selects none.
    fn selected_pods(&self, client: &Client, key: &Key, budget: &Object) -> Vec<Arc<Object>> {
        let Some(selector) = self.selectors.get(key) else {
            return Vec::new();
        };
        let namespace = budget.namespace().unwrap_or_default();
        let keys = self.pods.get(namespace).into_iter().flatten();
        keys.filter_map(|key| client.store().get(key))
            .filter(|pod| selects(selector, pod.value()))
            .collect()
    }

    async fn sync(&mut self, client: &Client, key: &Key, budget: &Object) -> Result<(), Status> {
        let pods = self.selected_pods(client, key, budget);
        if pods.is_empty() {
            let event = NewEvent::normal("NoPods", "No matching pods found");
            client
                .record_event(&POD_DISRUPTION_BUDGETS, budget, event)
                .await;
        }
        let expectation = match expected_pods(client.store(), budget, &pods) {
            Ok(expectation) => expectation,
            Err(reason) => return fail_safe(client, budget, &reason).await,
        };
        let now = client.now();
        let disrupted = disrupted_pods(budget, &pods, now);
        if let Some(wait) = time_to_expiry(&disrupted, now) {
            self.queue.add_at(Instant::now() + wait, key.clone());
        }
        let is_healthy = |pod: &&Arc<Object>| {
            !pod.is_terminating()
                && !disrupted.contains_key(pod.name())
                && is_true(pod.value(), "Ready")
        };
        let healthy = pods.iter().filter(is_healthy).count();
        let counts = BudgetCounts {
            expected: expectation.expected,
            desired: expectation.desired,
            healthy: i64::try_from(healthy).unwrap_or(i64::MAX),
        };
        let Some(status) = next_status(budget, counts, &disrupted, &client.timestamp()) else {
            return Ok(());
        };
        let patch = status_patch(budget.value(), &status);
        client
            .patch_status(&POD_DISRUPTION_BUDGETS, budget, patch)
            .await
    }
}

/// Allows no eviction, because the number of expected Pods is unknown (`failSafe` of
/// pkg/controller/disruption).
async fn fail_safe(client: &Client, budget: &Object, reason: &str) -> Result<(), Status> {
    let message = format!("Failed to calculate the number of expected pods: {reason}");
    let event = NewEvent::warning("CalculateExpectedPodCountFailed", message);
    client
        .record_event(&POD_DISRUPTION_BUDGETS, budget, event)
        .await;
    let Some(status) = failed_status(budget, reason, &client.timestamp()) else {
        return Ok(());
    };
    let patch = status_patch(budget.value(), &status);
    client
        .patch_status(&POD_DISRUPTION_BUDGETS, budget, patch)
        .await
}
