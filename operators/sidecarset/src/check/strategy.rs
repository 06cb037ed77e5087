use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;
use kubewright::webhook::Findings;
use regex::Regex;

use super::set::parses;
use crate::inject::{Expression, Unit};
use crate::roll_out::{Portion, portion};
use crate::{
    PriorityStrategy, ResourcesPolicy, SidecarContainer, SidecarSet, UpdateType, chosen_revision,
};

const UPDATE: &str = "spec.updateStrategy";
const AMOUNT: &str = "a valid value is a non-negative number or a percentage (e.g. '10%')";

/// How Pods are updated.
pub(super) fn check_update(set: &SidecarSet, findings: &mut Findings) {
    let strategy = &set.spec.update_strategy;
    let is_rolling = strategy.update_type.unwrap_or_default() == UpdateType::RollingUpdate;
    let is_canary = set.labels().get("apps.kruise.io/sidecarset-canary");
    if is_rolling && is_canary.is_some_and(|value| value == "true") {
        let why = "RollingUpdate is not supported for canary sidecarSet";
        findings.invalid(format!("{UPDATE}.type"), strategy.update_type, why);
    }
    let partition = amount(strategy.partition.as_ref(), "partition", findings);
    let most = amount(
        strategy.max_unavailable.as_ref(),
        "maxUnavailable",
        findings,
    );
    if matches!(most, Some(Portion::Number(0) | Portion::Percent(0))) {
        let why = "cannot be 0: no Pod could be updated";
        let path = format!("{UPDATE}.maxUnavailable");
        findings.invalid(path, &strategy.max_unavailable, why);
    }
    if let Some(selector) = &strategy.selector {
        let path = format!("{UPDATE}.selector");
        parses(selector, &path, findings);
        if matches!(
            partition,
            Some(Portion::Number(1..) | Portion::Percent(1..))
        ) {
            let why = "Partition and Selector cannot be used together";
            findings.invalid(path, selector, why);
        }
    }
    if let Some(priority) = &strategy.priority_strategy {
        check_priority(priority, findings);
    }
    for (place, term) in strategy.scatter_strategy.iter().enumerate() {
        let path = format!("{UPDATE}.scatterStrategy[{place}]");
        if term.key.is_empty() {
            findings.required(format!("{path}.key"), "");
        }
        if strategy
            .scatter_strategy
            .iter()
            .take(place)
            .any(|one| one == term)
        {
            findings.duplicate(path, term);
        }
    }
}

fn amount(value: Option<&IntOrString>, field: &str, findings: &mut Findings) -> Option<Portion> {
    let value = value?;
    let portion = portion(value).filter(|one| !matches!(one, Portion::Percent(101..)));
    if portion.is_none() {
        findings.invalid(format!("{UPDATE}.{field}"), value, AMOUNT);
    }
    portion
}

fn check_priority(priority: &PriorityStrategy, findings: &mut Findings) {
    let path = format!("{UPDATE}.priorityStrategy");
    let (weights, orders) = (&priority.weight_priority, &priority.order_priority);
    if !weights.is_empty() && !orders.is_empty() {
        let why = "only one of weightPriority and orderPriority can be used";
        findings.invalid(&path, priority, why);
    }
    for (place, term) in weights.iter().enumerate() {
        let path = format!("{path}.weightPriority[{place}]");
        if !(1..=100).contains(&term.weight) {
            let why = "must be between 1 and 100, inclusive";
            findings.invalid(format!("{path}.weight"), term.weight, why);
        }
        parses(
            &term.match_selector,
            &format!("{path}.matchSelector"),
            findings,
        );
    }
    for (place, term) in orders.iter().enumerate() {
        if term.ordered_key.is_empty() {
            findings.required(format!("{path}.orderPriority[{place}].orderedKey"), "");
        }
    }
}

/// What new Pods get.
pub(super) fn check_injection(
    set: &SidecarSet,
    held: &[Arc<ControllerRevision>],
    findings: &mut Findings,
) {
    let Some(revision) = &set.spec.injection_strategy.revision else {
        return;
    };
    let path = "spec.injectionStrategy.revision";
    let is_named = |name: &Option<String>| name.as_ref().is_some_and(|name| !name.is_empty());
    if !is_named(&revision.revision_name) && !is_named(&revision.custom_version) {
        let why = "revisionName and customVersion cannot be empty simultaneously";
        findings.invalid(path, revision, why);
    } else if !revision.is_present_of(set) && chosen_revision(set, held).is_none() {
        findings.invalid(path, revision, "Cannot find specific ControllerRevision");
    }
}

/// What a set says of its containers besides what a Pod would.
pub(super) fn check_sidecars(sidecars: &[SidecarContainer], path: &str, findings: &mut Findings) {
    for (place, sidecar) in sidecars.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let empty = sidecar.upgrade_strategy.hot_upgrade_empty_image.as_deref();
        if sidecar.is_hot() && empty.unwrap_or_default().is_empty() {
            let why = "a hot upgrade needs the image that does nothing";
            findings.required(format!("{path}.upgradeStrategy.hotUpgradeEmptyImage"), why);
        }
        for (place, transfer) in sidecar.transfer_env.iter().enumerate() {
            let path = format!("{path}.transferEnv[{place}]");
            let from = transfer.source_container_name_from.is_some();
            if transfer.source_container_name.is_empty() && !from {
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
            let why = "resourcesPolicy and resources cannot be configured together";
            findings.invalid(&path, policy, why);
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
            if let Err(why) = Expression::parse(text, unit) {
                findings.invalid(format!("{path}.resourcesExpr.{name}.{unit}"), text, &why);
            }
        }
    }
}
