//! The plan of a roll-out: which Pods are updated next.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::order::update_order;
use super::progress::{Counts, Progress};
use super::update::flipped;
use super::{InjectedPod, Portion};
use crate::selector::matches;
use crate::{SidecarSet, UpdateType};

/// The next steps of a roll-out.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Pods whose hot upgrade can be finished: the previous container gets the empty image.
    pub flip: Vec<Arc<Pod>>,
    /// Pods to update, in this order.
    pub update: Vec<Arc<Pod>>,
    /// Outdated Pods that cannot be updated while they run.
    pub not_upgradable: Vec<Arc<Pod>>,
    /// The progress of the roll-out.
    pub progress: Progress,
}

/// Plans the next steps of a roll-out from the state of the set's Pods.
pub fn plan(set: &SidecarSet, pods: &[InjectedPod]) -> Plan {
    let strategy = &set.spec.update_strategy;
    let is_rolling = strategy.update_type.unwrap_or_default() == UpdateType::RollingUpdate;
    let mut plan = Plan::default();
    let mut counts = Counts::of(pods);
    counts.is_paused = strategy.paused;
    counts.is_rolling = is_rolling;
    counts.max_unavailable = max_unavailable(set, pods.len());
    plan.not_upgradable = pods
        .iter()
        .filter(|pod| !pod.is_updated && !pod.is_upgradable)
        .map(|pod| Arc::clone(&pod.pod))
        .collect();
    if is_rolling && !strategy.paused {
        plan.flip = pods
            .iter()
            .filter(|pod| pod.is_updated && flipped(set, &pod.pod).is_some())
            .map(|pod| Arc::clone(&pod.pod))
            .collect();
        plan.update = next_updates(set, pods, &mut counts);
    }
    counts.updating = plan.update.len();
    plan.progress = counts.progress();
    plan
}

/// Returns the Pods that can be updated now, and counts why the others are not.
fn next_updates(set: &SidecarSet, pods: &[InjectedPod], counts: &mut Counts) -> Vec<Arc<Pod>> {
    let strategy = &set.spec.update_strategy;
    let (selected, unselected): (Vec<_>, Vec<_>) =
        pods.iter().filter(|pod| !pod.is_updated).partition(|pod| {
            let selector = strategy.selector.as_ref();
            selector.is_none_or(|selector| matches(selector, pod.pod.labels()))
        });
    counts.unselected = unselected.len();
    let upgradable = selected.into_iter().filter(|pod| pod.is_upgradable);
    let candidates = update_order(strategy, upgradable.collect());
    let outdated = pods.len() - counts.updated;
    let allowed = outdated.saturating_sub(partition(set, pods.len()));
    counts.kept_back = candidates.len().saturating_sub(allowed);
    let unready = counts.updated - counts.updated_ready;
    let mut budget = counts.max_unavailable.saturating_sub(unready);
    let mut next = Vec::new();
    for pod in candidates.into_iter().take(allowed) {
        let is_last_update_running = !pod.is_consistent && is_ready(&pod.pod);
        let costs_budget = pod.is_ready;
        if is_last_update_running || (costs_budget && budget == 0) {
            counts.waiting += 1;
            continue;
        }
        budget -= usize::from(costs_budget);
        next.push(Arc::clone(&pod.pod));
    }
    next
}

/// Whether the Pod is ready, in whatever version.
fn is_ready(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// The number of Pods that keep their version. A percentage below 100 leaves at least one Pod to
/// update.
fn partition(set: &SidecarSet, total: usize) -> usize {
    let partition = set.spec.update_strategy.partition.as_ref();
    match partition.and_then(Portion::parse) {
        None => 0,
        Some(portion @ Portion::Percent(..100)) => portion.of(total).min(total.saturating_sub(1)),
        Some(portion) => portion.of(total),
    }
}

fn max_unavailable(set: &SidecarSet, total: usize) -> usize {
    let limit = set.spec.update_strategy.max_unavailable.as_ref();
    Portion::parse(limit.unwrap_or(&IntOrString::Int(1))).map_or(1, |portion| portion.of(total))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "plan_properties.rs"]
mod properties;
