//! The resources that containers and Pods request.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use kubewright_core::Quantity;
use kubewright_core::format::label;
use serde_json::{Value, json};

use super::context::PodContext;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::resource_list::{
    is_hugepages, is_native, validate_container_resource_name, validate_quantity,
    validate_resource_name,
};

/// `ValidateContainerResourceRequirements`.
pub(super) fn requirements(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    validate_lists(at, validate_container_resource_name, errors);
    claims(at.field("claims"), context, errors);
}

/// `validatePodResources`.
pub(super) fn pod_resources(spec: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let at = spec.field("resources");
    if !at.is_set() {
        return;
    }
    if context.system == "windows" {
        return errors.forbidden(at, "may not be set for a windows pod");
    }
    if at.has("claims") {
        let detail = "claims may not be set for Resources at pod-level";
        errors.forbidden(at.field("claims"), detail);
    }
    validate_lists(at, validate_pod_resource_name, errors);
}

fn validate_lists(
    at: FieldPath<'_>,
    check_name: fn(FieldPath<'_>, &str, &mut ErrorList),
    errors: &mut ErrorList,
) {
    let (limits, requests) = (at.field("limits"), at.field("requests"));
    for (name, limit) in limits.entries() {
        check_name(limit, name, errors);
        validate_quantity(limit, name, errors);
    }
    for (name, request) in requests.entries() {
        check_name(request, name, errors);
        validate_quantity(request, name, errors);
        let may_exceed = is_native(name) && !is_hugepages(name);
        let requested = Quantity::parse(request.text());
        let Some((requested, limit)) = requested.zip(Quantity::parse(limits.text_of(name))) else {
            if !may_exceed {
                let detail = "Limit must be set for non overcommitable resources";
                errors.required(limits, detail);
            }
            continue;
        };
        let relation = match requested.cmp_amount(&limit) {
            Ordering::Equal => continue,
            _ if !may_exceed => "equal to",
            Ordering::Greater => "less than or equal to",
            Ordering::Less => continue,
        };
        let detail = format!("must be {relation} {name} limit of {limit}");
        errors.invalid_value(requests, request.value(), &detail);
    }
    let has = |wanted: fn(&str) -> bool| {
        let names = limits.entries().chain(requests.entries());
        names.map(|(name, _)| name).any(wanted)
    };
    if has(is_hugepages) && !has(|name| matches!(name, "cpu" | "memory")) {
        errors.forbidden(at, "HugePages require cpu or memory");
    }
}

fn validate_pod_resource_name(at: FieldPath<'_>, name: &str, errors: &mut ErrorList) {
    let for_pods = matches!(name, "cpu" | "memory") || is_hugepages(name);
    if validate_resource_name(at, name, errors) && !for_pods {
        errors.unsupported(at.with(&Value::from(name)), &["cpu", "memory"]);
    }
}

/// `validateResourceClaimNames`.
fn claims(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let mut seen = BTreeSet::new();
    for claim in at.items() {
        let (name, request) = (claim.text_of("name"), claim.text_of("request"));
        if name.is_empty() {
            errors.required(claim, "");
            continue;
        }
        if !request.is_empty() {
            let at = claim.field("request");
            errors.problems(at, label(request));
        }
        if !seen.insert((name, request)) || (!request.is_empty() && seen.contains(&(name, ""))) {
            errors.duplicate_value(claim, &json!(name));
        }
        if !context.claims.contains(name) {
            let known: Vec<&str> = context.claims.iter().copied().collect();
            let detail = if known.is_empty() {
                "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
            } else {
                format!(
                    "must be one of the names in pod.spec.resourceClaims: {}",
                    known.join(", ")
                )
            };
            errors.not_found(claim.with(&json!(name)), &detail);
        }
    }
}
