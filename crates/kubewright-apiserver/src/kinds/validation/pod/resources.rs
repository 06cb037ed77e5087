use std::collections::BTreeSet;

use kubewright_wire::schema::Quantity;
use serde_json::{Value, json};

use super::super::formats::{label, qualified_name};
use super::super::node::{amount, is_extended, is_native};
use super::super::{At, Findings};
use super::Around;

const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// `ValidateContainerResourceRequirements`.
pub(super) fn requirements(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    amounts(at, container_name, findings);
    claims(at.field("claims"), around, findings);
}

/// `validatePodResources`.
pub(super) fn pod_resources(spec: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let at = spec.field("resources");
    if !at.is_set() {
        return;
    }
    if around.system == "windows" {
        return findings.forbidden(at, "may not be set for a windows pod");
    }
    if at.has("claims") {
        let detail = "claims may not be set for Resources at pod-level";
        findings.forbidden(at.field("claims"), detail);
    }
    amounts(at, pod_name, findings);
}

fn amounts(at: At<'_>, check_name: fn(At<'_>, &str, &mut Findings), findings: &mut Findings) {
    let (limits, requests) = (at.field("limits"), at.field("requests"));
    for (name, limit) in limits.entries() {
        check_name(limit, name, findings);
        amount(limit, name, findings);
    }
    for (name, request) in requests.entries() {
        check_name(request, name, findings);
        amount(request, name, findings);
        let may_exceed = is_native(name) && !is_huge(name);
        let (asked, limit) = (
            Quantity::parse(request.text()),
            Quantity::parse(limits.text_of(name)),
        );
        let (Some(asked), Some(limit)) = (asked, limit) else {
            if !may_exceed {
                let detail = "Limit must be set for non overcommitable resources";
                findings.required(limits, detail);
            }
            continue;
        };
        let relation = match asked.cmp_amount(&limit) {
            std::cmp::Ordering::Equal => continue,
            _ if !may_exceed => "equal to",
            std::cmp::Ordering::Greater => "less than or equal to",
            std::cmp::Ordering::Less => continue,
        };
        let detail = format!("must be {relation} {name} limit of {limit}");
        findings.invalid_value(requests, request.value(), &detail);
    }
    let has = |wanted: fn(&str) -> bool| {
        let names = limits.entries().chain(requests.entries());
        names.map(|(name, _)| name).any(wanted)
    };
    if has(is_huge) && !has(|name| matches!(name, "cpu" | "memory")) {
        findings.forbidden(at, "HugePages require cpu or memory");
    }
}

pub(in super::super) fn is_huge(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// `validateResourceName`; whether the name is well formed.
pub(in super::super) fn resource_name(at: At<'_>, name: &str, findings: &mut Findings) -> bool {
    let problems = qualified_name(name);
    for problem in &problems {
        findings.invalid_value(at, &json!(name), problem);
    }
    if !problems.is_empty() {
        return false;
    }
    let is_standard =
        STANDARD.contains(&name) || is_huge(name) || name.starts_with("requests.hugepages-");
    if !name.contains('/') && !is_standard {
        let detail = "must be a standard resource type or fully qualified";
        findings.invalid_value(at, &json!(name), detail);
        return false;
    }
    true
}

/// `validateContainerResourceName`.
pub(in super::super) fn container_name(at: At<'_>, name: &str, findings: &mut Findings) {
    resource_name(at, name, findings);
    let for_containers = matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge(name);
    if !name.contains('/') && !for_containers {
        let detail = "must be a standard resource for containers";
        findings.invalid_value(at, &json!(name), detail);
    }
    if name.contains('/') && !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        findings.invalid_value(at, &json!(name), detail);
    }
}

fn pod_name(at: At<'_>, name: &str, findings: &mut Findings) {
    let for_pods = matches!(name, "cpu" | "memory") || is_huge(name);
    if resource_name(at, name, findings) && !for_pods {
        findings.unsupported(at.with(&Value::from(name)), &["cpu", "memory"]);
    }
}

/// `validateResourceClaimNames`.
fn claims(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for claim in at.items() {
        let (name, request) = (claim.text_of("name"), claim.text_of("request"));
        if name.is_empty() {
            findings.required(claim, "");
            continue;
        }
        if !request.is_empty() {
            let place = claim.field("request");
            findings.problems(place, label(request));
        }
        if !seen.insert((name, request)) || (!request.is_empty() && seen.contains(&(name, ""))) {
            findings.duplicate_value(claim, &json!(name));
        }
        if !around.claims.contains(name) {
            let known: Vec<&str> = around.claims.iter().copied().collect();
            let detail = match known.is_empty() {
                true => {
                    "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
                }
                false => format!(
                    "must be one of the names in pod.spec.resourceClaims: {}",
                    known.join(", ")
                ),
            };
            findings.not_found(claim.with(&json!(name)), &detail);
        }
    }
}
