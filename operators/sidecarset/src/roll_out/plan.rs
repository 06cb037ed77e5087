use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::order::ordered;
use super::progress::{Numbers, Progress};
use super::update::flipped;
use super::{Member, Portion, portion};
use crate::selector::matches;
use crate::{SidecarSet, UpdateType};

/// What a roll-out does next.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Pods whose former containers of a hot upgrade can rest.
    pub flip: Vec<Arc<Pod>>,
    /// Pods that are updated, in that order.
    pub update: Vec<Arc<Pod>>,
    /// Pods that only a new Pod can bring up to date.
    pub not_upgradable: Vec<Arc<Pod>>,
    /// How far it is.
    pub progress: Progress,
}

/// What the roll-out of a set does next, from how its Pods are doing.
pub fn plan(set: &SidecarSet, members: &[Member]) -> Plan {
    let strategy = &set.spec.update_strategy;
    let is_rolling = strategy.update_type.unwrap_or_default() == UpdateType::RollingUpdate;
    let mut plan = Plan::default();
    let mut numbers = Numbers::count(members);
    numbers.is_paused = strategy.paused;
    numbers.is_rolling = is_rolling;
    numbers.max_unavailable = max_unavailable(set, members.len());
    plan.not_upgradable = members
        .iter()
        .filter(|one| !one.is_updated && !one.is_upgradable)
        .map(|one| Arc::clone(&one.pod))
        .collect();
    if is_rolling && !strategy.paused {
        let updated = members.iter().filter(|one| one.is_updated);
        let flip = updated.filter(|one| flipped(set, &one.pod).is_some());
        plan.flip = flip.map(|one| Arc::clone(&one.pod)).collect();
        plan.update = next(set, members, &mut numbers);
    }
    numbers.updating = plan.update.len();
    plan.progress = numbers.progress();
    plan
}

/// The Pods that may be updated now.
fn next(set: &SidecarSet, members: &[Member], numbers: &mut Numbers) -> Vec<Arc<Pod>> {
    let strategy = &set.spec.update_strategy;
    let outdated = members.iter().filter(|one| !one.is_updated);
    let (selected, others): (Vec<_>, Vec<_>) = outdated.partition(|one| {
        let selector = strategy.selector.as_ref();
        selector.is_none_or(|selector| matches(selector, one.pod.labels()))
    });
    numbers.unselected = others.len();
    let candidates = selected.into_iter().filter(|one| one.is_upgradable);
    let candidates = ordered(strategy, candidates.collect());
    let outdated = members.len() - numbers.updated;
    let kept = partition(set, members.len());
    let allowed = outdated.saturating_sub(kept);
    numbers.kept = candidates.len().saturating_sub(allowed);
    let budget = numbers.max_unavailable;
    let mut budget = budget.saturating_sub(numbers.updated - numbers.updated_ready);
    let mut chosen = Vec::new();
    for member in candidates.into_iter().take(allowed) {
        // The former update of such a Pod is still under way.
        if !member.is_consistent && is_serving(member) {
            numbers.waiting += 1;
        } else if !member.is_ready {
            chosen.push(Arc::clone(&member.pod));
        } else if budget > 0 {
            budget -= 1;
            chosen.push(Arc::clone(&member.pod));
        } else {
            numbers.waiting += 1;
        }
    }
    chosen
}

/// Whether the Pod says that it is ready, whatever it runs.
fn is_serving(member: &Member) -> bool {
    let status = member.pod.status.iter();
    let mut conditions = status.flat_map(|one| one.conditions.iter().flatten());
    conditions.any(|one| one.type_ == "Ready" && one.status == "True")
}

/// How many Pods keep what they have. A percentage below 100 leaves at least one to try it with.
fn partition(set: &SidecarSet, all: usize) -> usize {
    let partition = set.spec.update_strategy.partition.as_ref();
    match partition.and_then(portion) {
        None => 0,
        Some(Portion::Percent(percent)) if percent < 100 => {
            let kept = Portion::Percent(percent).of(all);
            kept.min(all.saturating_sub(1))
        }
        Some(portion) => portion.of(all),
    }
}

fn max_unavailable(set: &SidecarSet, all: usize) -> usize {
    let most = set.spec.update_strategy.max_unavailable.as_ref();
    let most = most.unwrap_or(&IntOrString::Int(1));
    portion(most).map_or(1, |portion| portion.of(all))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "plan_properties.rs"]
mod properties;
