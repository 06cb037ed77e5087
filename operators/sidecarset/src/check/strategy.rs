//! Validates the strategies of a set and of its containers.

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;
use kubewright::webhook::Findings;
use regex::Regex;

use super::selector::check_selector;
use crate::inject::{Expression, Unit};
use crate::kind::is_canary;
use crate::roll_out::Portion;
use crate::{
    PriorityStrategy, ResourcesPolicy, SidecarContainer, SidecarSet, UpdateType, chosen_revision,
};

const UPDATE: &str = "spec.updateStrategy";
const PORTION_MESSAGE: &str = "a valid value is a non-negative number or a percentage (e.g. '10%')";

/// Validates the update strategy.
pub(super) fn check_update(set: &SidecarSet, findings: &mut Findings) {
    let strategy = &set.spec.update_strategy;
    let is_rolling = strategy.update_type.unwrap_or_default() == UpdateType::RollingUpdate;
    if is_rolling && is_canary(set) {
        let reason = "RollingUpdate is not supported for canary sidecarSet";
        findings.invalid(format!("{UPDATE}.type"), strategy.update_type, reason);
    }
    let partition = check_portion(strategy.partition.as_ref(), "partition", findings);
    let max_unavailable = check_portion(
        strategy.max_unavailable.as_ref(),
        "maxUnavailable",
        findings,
    );
    if matches!(
        max_unavailable,
        Some(Portion::Number(0) | Portion::Percent(0))
    ) {
        let reason = "cannot be 0: no Pod could be updated";
        let path = format!("{UPDATE}.maxUnavailable");
        findings.invalid(path, &strategy.max_unavailable, reason);
    }
    if let Some(selector) = &strategy.selector {
        let path = format!("{UPDATE}.selector");
        check_selector(selector, &path, findings);
        if matches!(
            partition,
            Some(Portion::Number(1..) | Portion::Percent(1..))
        ) {
            let reason = "Partition and Selector cannot be used together";
            findings.invalid(path, selector, reason);
        }
    }
    if let Some(priority) = &strategy.priority_strategy {
        check_priority(priority, findings);
    }
    for (index, term) in strategy.scatter_strategy.iter().enumerate() {
        let path = format!("{UPDATE}.scatterStrategy[{index}]");
        if term.key.is_empty() {
            findings.required(format!("{path}.key"), "");
        }
        let mut earlier = strategy.scatter_strategy.iter().take(index);
        if earlier.any(|earlier| earlier == term) {
            findings.duplicate(path, term);
        }
    }
}

fn check_portion(
    value: Option<&IntOrString>,
    field: &str,
    findings: &mut Findings,
) -> Option<Portion> {
    let value = value?;
    let portion =
        Portion::parse(value).filter(|portion| !matches!(portion, Portion::Percent(101..)));
    if portion.is_none() {
        findings.invalid(format!("{UPDATE}.{field}"), value, PORTION_MESSAGE);
    }
    portion
}

fn check_priority(priority: &PriorityStrategy, findings: &mut Findings) {
    let path = format!("{UPDATE}.priorityStrategy");
    let (weights, orders) = (&priority.weight_priority, &priority.order_priority);
    if !weights.is_empty() && !orders.is_empty() {
        let reason = "only one of weightPriority and orderPriority can be used";
        findings.invalid(&path, priority, reason);
    }
    for (index, term) in weights.iter().enumerate() {
        let path = format!("{path}.weightPriority[{index}]");
        if !(1..=100).contains(&term.weight) {
            let reason = "must be between 1 and 100, inclusive";
            findings.invalid(format!("{path}.weight"), term.weight, reason);
        }
        check_selector(
            &term.match_selector,
            &format!("{path}.matchSelector"),
            findings,
        );
    }
    for (index, term) in orders.iter().enumerate() {
        if term.ordered_key.is_empty() {
            findings.required(format!("{path}.orderPriority[{index}].orderedKey"), "");
        }
    }
}

/// Validates the injection strategy.
pub(super) fn check_injection(
    set: &SidecarSet,
    revisions: &[Arc<ControllerRevision>],
    findings: &mut Findings,
) {
    let Some(revision) = &set.spec.injection_strategy.revision else {
        return;
    };
    let path = "spec.injectionStrategy.revision";
    let is_named = |name: &Option<String>| name.as_ref().is_some_and(|name| !name.is_empty());
    if !is_named(&revision.revision_name) && !is_named(&revision.custom_version) {
        let reason = "revisionName and customVersion cannot be empty simultaneously";
        findings.invalid(path, revision, reason);
    } else if !revision.is_current_version_of(set) && chosen_revision(set, revisions).is_none() {
        findings.invalid(path, revision, "Cannot find specific ControllerRevision");
    }
}

/// Validates the fields of containers that only sets have.
pub(super) fn check_sidecars(sidecars: &[SidecarContainer], path: &str, findings: &mut Findings) {
    for (index, sidecar) in sidecars.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let empty_image = sidecar.upgrade_strategy.hot_upgrade_empty_image.as_deref();
        if sidecar.is_hot() && empty_image.unwrap_or_default().is_empty() {
            let reason = "a hot upgrade requires an image for the idle container";
            findings.required(
                format!("{path}.upgradeStrategy.hotUpgradeEmptyImage"),
                reason,
            );
        }
        for (index, transfer) in sidecar.transfer_env.iter().enumerate() {
            let path = format!("{path}.transferEnv[{index}]");
            let has_reference = transfer.source_container_name_from.is_some();
            if transfer.source_container_name.is_empty() && !has_reference {
                findings.required(format!("{path}.sourceContainerName"), "");
            }
            if transfer.env_name.is_empty() && transfer.env_names.is_empty() {
                findings.required(format!("{path}.envName"), "");
            }
        }
        let Some(policy) = &sidecar.resources_policy else {
            continue;
        };
        let path = format!("{path}.resourcesPolicy");
        let own = sidecar.container.resources.as_ref();
        if own.is_some_and(|own| own.limits.is_some() || own.requests.is_some()) {
            let reason = "resourcesPolicy and resources cannot be configured together";
            findings.invalid(&path, policy, reason);
        }
        check_resources(policy, &path, findings);
    }
}

fn check_resources(policy: &ResourcesPolicy, path: &str, findings: &mut Findings) {
    if let Some(pattern) = &policy.target_containers_name_regex
        && let Err(error) = Regex::new(pattern)
    {
        let path = format!("{path}.targetContainersNameRegex");
        findings.invalid(path, pattern, &error.to_string());
    }
    let bounds = &policy.resources_expr;
    for (name, bound) in [("limits", &bounds.limits), ("requests", &bounds.requests)] {
        let Some(bound) = bound else {
            continue;
        };
        for (unit, text) in [(Unit::Cpu, &bound.cpu), (Unit::Memory, &bound.memory)] {
            let Some(text) = text else {
                continue;
            };
            if let Err(reason) = Expression::parse(text, unit) {
                findings.invalid(format!("{path}.resourcesExpr.{name}.{unit}"), text, &reason);
            }
        }
    }
}
