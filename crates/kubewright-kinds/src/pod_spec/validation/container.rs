//! Containers, init containers and ephemeral containers.

use std::collections::BTreeSet;

use kubewright_core::format::{label, port_name, port_number};
use serde_json::json;

use super::context::PodContext;
use super::env::{env, env_from};
use super::mounts::{devices, mounts};
use super::probe::{lifecycle, probes};
use super::resources::requirements;
use super::security::container_security;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::{items, text};
use crate::pod_spec::image::{PULL_POLICIES, validate_image_whitespace};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// `validateContainers`.
pub(super) fn containers(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    if at.is_empty() {
        return errors.required(at, "");
    }
    let mut names = BTreeSet::new();
    for container in at.items() {
        common(container, context, errors);
        if !names.insert(container.text_of("name")) {
            errors.duplicate_value(container.field("name"), &json!(container.text_of("name")));
        }
        lifecycle(container.field("lifecycle"), context, errors);
        probes(container, context, errors);
        restart_policy(container, errors);
    }
    let mut taken = BTreeSet::new();
    for container in at.items() {
        host_ports(container, &mut taken, errors);
    }
}

/// `validateInitContainers`.
pub(super) fn init_containers(
    spec: FieldPath<'_>,
    context: &PodContext<'_>,
    errors: &mut ErrorList,
) {
    let mut names: BTreeSet<&str> = items(&spec.value()["containers"])
        .map(|container| text(&container["name"]))
        .collect();
    let own = spec.field("initContainers");
    for container in own.items() {
        common(container, context, errors);
        restart_policy(container, errors);
        let name = container.text_of("name");
        if names.contains(name) {
            errors.duplicate_value(container.field("name"), &json!(name));
        } else if !name.is_empty() {
            names.insert(name);
        }
        host_ports(container, &mut BTreeSet::new(), errors);
        if container.text_of("restartPolicy") == "Always" {
            lifecycle(container.field("lifecycle"), context, errors);
            probes(container, context, errors);
            continue;
        }
        for field in [
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
        ] {
            if container.has(field) {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.forbidden(container.field(field), detail);
            }
        }
    }
}

/// `validateEphemeralContainers`.
pub(super) fn ephemeral_containers(
    spec: FieldPath<'_>,
    context: &PodContext<'_>,
    errors: &mut ErrorList,
) {
    const DETAIL: &str = "cannot be set for an Ephemeral Container";
    let names_of =
        |list: &str| items(&spec.value()[list]).filter_map(|container| container["name"].as_str());
    let others: BTreeSet<&str> = names_of("containers")
        .chain(names_of("initContainers"))
        .collect();
    let mut names = others.clone();
    let own = spec.field("ephemeralContainers");
    for container in own.items() {
        common(container, context, errors);
        validate_image_whitespace(container.field("image"), errors);
        if !names.insert(container.text_of("name")) {
            errors.duplicate(container.field("name"));
        }
        let target = container.text_of("targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.not_found(container.field("targetContainerName"), "");
        }
        for field in [
            "ports",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            if container.has(field) {
                errors.forbidden(container.field(field), DETAIL);
            }
        }
        for mount in container.field("volumeMounts").items() {
            for field in ["subPath", "subPathExpr"] {
                if mount.has(field) {
                    errors.forbidden(mount.field(field), DETAIL);
                }
            }
        }
    }
}

/// `validateContainerCommon`.
fn common(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let name = at.field("name");
    match name.text() {
        "" => errors.required(name, ""),
        text => errors.problems(name, label(text)),
    }
    if at.text_of("image").is_empty() {
        errors.required(at.field("image"), "");
    }
    let message = at.field("terminationMessagePolicy");
    errors.one_of(message, &["File", "FallbackToLogsOnError"]);
    ports(at.field("ports"), errors);
    env(at.field("env"), errors);
    env_from(at.field("envFrom"), errors);
    mounts(at, context, errors);
    devices(at, context, errors);
    errors.one_of(at.field("imagePullPolicy"), &PULL_POLICIES);
    requirements(at.field("resources"), context, errors);
    resize_policies(at.field("resizePolicy"), context, errors);
    container_security(at.field("securityContext"), context, errors);
}

fn ports(at: FieldPath<'_>, errors: &mut ErrorList) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let name = port.field("name");
        if !name.text().is_empty() {
            let problems = port_name(name.text());
            if problems.is_empty() && !names.insert(port.text_of("name")) {
                errors.duplicate(name);
            }
            errors.problems(name, problems);
        }
        let own = port.field("containerPort");
        match own.number().unwrap_or(0) {
            0 => errors.required(own, ""),
            number => number_problems(own, number, errors),
        }
        let host = port.field("hostPort");
        match host.number().unwrap_or(0) {
            0 => {}
            number => number_problems(host, number, errors),
        }
        errors.one_of(port.field("protocol"), &PROTOCOLS);
    }
}

fn number_problems(at: FieldPath<'_>, number: i64, errors: &mut ErrorList) {
    for problem in port_number(number) {
        errors.invalid(at, &problem);
    }
}

/// `AccumulateUniqueHostPorts`.
fn host_ports(container: FieldPath<'_>, taken: &mut BTreeSet<String>, errors: &mut ErrorList) {
    for port in container.field("ports").items() {
        let number = port.field("hostPort").number().unwrap_or(0);
        if number == 0 {
            continue;
        }
        let name = format!(
            "{}/{}/{number}",
            port.text_of("protocol"),
            port.text_of("hostIP")
        );
        if !taken.insert(name.clone()) {
            errors.duplicate_value(port.field("hostPort"), &json!(name));
        }
    }
}

/// `validateContainerRestartPolicy`.
fn restart_policy(at: FieldPath<'_>, errors: &mut ErrorList) {
    let policy = at.field("restartPolicy");
    let rules = at.field("restartPolicyRules");
    if !policy.is_set() {
        if !rules.is_empty() {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.required(policy, detail);
        }
        return;
    }
    let policies = ["Always", "Never", "OnFailure"];
    if !policies.contains(&policy.text()) {
        errors.unsupported(policy, &policies);
    }
    if rules.len() > 20 {
        errors.too_many(rules, 20);
    }
    for rule in rules.items() {
        let actions = ["Restart", "RestartAllContainers"];
        if !actions.contains(&rule.text_of("action")) {
            errors.unsupported(rule.field("action"), &actions);
        }
        let codes = rule.field("exitCodes");
        if !codes.is_set() {
            errors.required(codes, "must be specified");
            continue;
        }
        if !["In", "NotIn"].contains(&codes.text_of("operator")) {
            errors.unsupported(codes.field("operator"), &["In", "NotIn"]);
        }
        if codes.field("values").len() > 255 {
            errors.too_many(codes.field("values"), 255);
        }
    }
}

/// `validateResizePolicy`.
fn resize_policies(at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let mut seen = BTreeSet::new();
    for policy in at.items() {
        let resource = policy.text_of("resourceName");
        if !seen.insert(resource) {
            errors.duplicate_value(policy, &json!(resource));
        }
        let restart = policy.text_of("restartPolicy");
        errors.one_of(
            at.with(policy.field("resourceName").value()),
            &["cpu", "memory"],
        );
        errors.one_of(
            at.with(policy.field("restartPolicy").value()),
            &["NotRequired", "RestartContainer"],
        );
        if context.restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid_value(at, &json!(restart), detail);
        }
    }
}
