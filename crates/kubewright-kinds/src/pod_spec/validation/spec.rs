//! The PodSpec as a whole.

use std::collections::BTreeSet;

use kubewright_core::format::{label, qualified_name, subdomain};
use serde_json::{Value, json};

use super::affinity::{affinity, spread_constraints};
use super::container::{containers, ephemeral_containers, init_containers};
use super::context::PodContext;
use super::resources::{pod_resources, requirements};
use super::security::pod_security;
use super::tolerations::validate_tolerations;
use super::volume::volumes;
use crate::addresses::validate_ip;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::{items, text};
use crate::label_selector::validate_labels;
use crate::pod_spec::owner::SpecOwner;

const LONGEST_SEARCH_LIST: usize = 2048;

/// `ValidatePodSpec`. `pod_name` is `None` in a template.
pub(crate) fn validate_pod_spec<'a>(
    at: FieldPath<'a>,
    mut context: PodContext<'a>,
    pod_name: Option<&str>,
    errors: &mut ErrorList,
) {
    if context.grace_period.is_none() {
        errors.required(at.field("terminationGracePeriodSeconds"), "");
    }
    let valid = volumes(at.field("volumes"), &context, pod_name, errors);
    for (volume, is_valid) in items(&at.value()["volumes"]).zip(valid) {
        if is_valid {
            let name = text(&volume["name"]);
            context.volumes.entry(name).or_insert(volume);
        }
    }
    let context = &context;
    containers(at.field("containers"), context, errors);
    init_containers(at, context, errors);
    ephemeral_containers(at, context, errors);
    pod_resources(at, context, errors);
    host_ports(at, context, errors);
    let restart = at.field("restartPolicy");
    errors.one_of(restart, &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(at.field("dnsPolicy"), &policies);
    validate_labels(at.field("nodeSelector"), errors);
    pod_security(at, errors);
    affinity(at.field("affinity"), errors);
    dns(at, errors);
    gates(at, errors);
    spread_constraints(at.field("topologySpreadConstraints"), errors);
    host_users(at, context, errors);
    names(at, errors);
    validate_tolerations(at.field("tolerations"), errors);
    for alias in at.field("hostAliases").items() {
        validate_ip(alias.field("ip"), errors);
        for name in alias.field("hostnames").items() {
            errors.problems(name, subdomain(name.text()));
        }
    }
    rest(at, context, errors);
}

/// `validatePodHostNetworkDeps`.
fn host_ports(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    if !at.field("hostNetwork").is_true() {
        return;
    }
    for container in at.field("containers").items() {
        for port in container.field("ports").items() {
            let host = port.field("hostPort").number().unwrap_or(0);
            let own = port.field("containerPort").number().unwrap_or(0);
            if (context.owner == SpecOwner::Pod || host != 0) && host != own {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid_value(port.field("hostPort"), &json!(host), detail);
            }
        }
    }
}

/// `validatePodDNSConfig`.
fn dns(at: FieldPath<'_>, errors: &mut ErrorList) {
    let config = at.field("dnsConfig");
    let servers = config.field("nameservers");
    if at.text_of("dnsPolicy") == "None" {
        if !config.is_set() {
            let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
            return errors.required(config, detail);
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return errors.required(servers, detail);
        }
    }
    if servers.len() > 3 {
        errors.invalid(servers, "must not have more than 3 nameservers");
    }
    servers
        .items()
        .for_each(|server| validate_ip(server, errors));
    let searches = config.field("searches");
    if searches.len() > 32 {
        errors.invalid(searches, "must not have more than 32 search paths");
    }
    let length: usize = searches.items().map(|search| search.text().len() + 1).sum();
    if length > LONGEST_SEARCH_LIST + 1 {
        let detail = format!(
            "must not have more than {LONGEST_SEARCH_LIST} characters (including spaces) in the \
             search list"
        );
        errors.invalid(searches, &detail);
    }
    for option in config.field("options").items() {
        if option.text_of("name").is_empty() {
            errors.required(option, "must not be empty");
        }
    }
}

fn gates(at: FieldPath<'_>, errors: &mut ErrorList) {
    for gate in at.field("readinessGates").items() {
        let kind = gate.field("conditionType");
        errors.problems(kind, qualified_name(kind.text()));
    }
    let mut seen = BTreeSet::new();
    for gate in at.field("schedulingGates").items() {
        let name = json!(gate.text_of("name"));
        for problem in qualified_name(gate.text_of("name")) {
            errors.invalid_value(gate, &name, &problem);
        }
        if !seen.insert(gate.text_of("name")) {
            errors.duplicate_value(gate, &name);
        }
    }
}

/// `validateHostUsers`.
fn host_users(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    if context.on_host_users {
        return;
    }
    let detail = "when `hostUsers` is false";
    if at.field("hostNetwork").is_true() {
        errors.forbidden(at.field("hostNetwork"), detail);
    }
    for (field, shown) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if at.field(field).is_true() {
            errors.forbidden(at.field(shown), detail);
        }
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in at.field(list).items() {
            if !container.field("volumeDevices").is_empty() {
                errors.forbidden(container.field("volumeDevices"), detail);
            }
        }
    }
}

fn names(at: FieldPath<'_>, errors: &mut ErrorList) {
    let given = |field: &'static str| Some(at.text_of(field)).filter(|text| !text.is_empty());
    if given("serviceAccountName").is_some() {
        let name = at.field("serviceAccountName");
        errors.problems(name, subdomain(name.text()));
    }
    if given("nodeName").is_some() {
        let name = at.field("nodeName");
        errors.problems(name, subdomain(name.text()));
    }
    let deadline = at.field("activeDeadlineSeconds");
    let longest = i64::from(i32::MAX);
    if deadline
        .number()
        .is_some_and(|seconds| !(1..=longest).contains(&seconds))
    {
        errors.invalid(deadline, "must be between 1 and 2147483647, inclusive");
    }
    for field in ["hostname", "subdomain"] {
        if given(field).is_some() {
            let name = at.field(field);
            errors.problems(name, label(name.text()));
        }
    }
}

fn rest(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    for field in ["priorityClassName", "runtimeClassName"] {
        let name = at.field(field);
        let is_checked = name.is_set() && (field == "runtimeClassName" || !name.text().is_empty());
        if is_checked {
            errors.problems(name, subdomain(name.text()));
        }
    }
    let preemption = at.field("preemptionPolicy");
    if preemption.is_set() {
        errors.one_of(preemption, &["PreemptLowerPriority", "Never"]);
    }
    if at.has("overhead") {
        let limits = json!({"limits": at.field("overhead").value()});
        requirements(at.field("overhead").with(&limits), context, errors);
    }
    let system = at.field("os");
    if system.is_set() {
        match context.system {
            "" => errors.required(system.field("name"), ""),
            "linux" | "windows" => {}
            name => errors.unsupported(system.with(&Value::from(name)), &["linux", "windows"]),
        }
    }
}
