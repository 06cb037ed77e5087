use std::collections::BTreeSet;

use serde_json::json;

use super::super::formats::{label, port_name, port_number};
use super::super::{At, Findings};
use super::Around;
use super::create::image_edges;
use super::env::{env, env_from};
use super::mounts::{devices, mounts};
use super::probe::{lifecycle, probes};
use super::resources::requirements;
use super::security::container_security;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
pub(super) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// `validateContainers`.
pub(super) fn containers(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    if at.is_empty() {
        return findings.required(at, "");
    }
    let mut names = BTreeSet::new();
    for container in at.items() {
        common(container, around, findings);
        if !names.insert(container.text_of("name")) {
            findings.duplicate_value(container.field("name"), &json!(container.text_of("name")));
        }
        lifecycle(container.field("lifecycle"), around, findings);
        probes(container, around, findings);
        restart_policy(container, findings);
    }
    let mut taken = BTreeSet::new();
    for container in at.items() {
        host_ports(container, &mut taken, findings);
    }
}

/// `validateInitContainers`.
pub(super) fn init_containers(spec: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let list = spec.value()["containers"].as_array();
    let list = list.into_iter().flatten();
    let mut names: BTreeSet<&str> = list
        .map(|one| one["name"].as_str().unwrap_or_default())
        .collect();
    let own = spec.field("initContainers");
    for container in own.items() {
        common(container, around, findings);
        restart_policy(container, findings);
        let name = container.text_of("name");
        if names.contains(name) {
            findings.duplicate_value(container.field("name"), &json!(name));
        } else if !name.is_empty() {
            names.insert(name);
        }
        host_ports(container, &mut BTreeSet::new(), findings);
        if container.text_of("restartPolicy") == "Always" {
            lifecycle(container.field("lifecycle"), around, findings);
            probes(container, around, findings);
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
                findings.forbidden(container.field(field), detail);
            }
        }
    }
}

/// `validateEphemeralContainers`.
pub(super) fn ephemeral_containers(spec: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    const DETAIL: &str = "cannot be set for an Ephemeral Container";
    let names_of = |list: &str| {
        let list = spec.value()[list].as_array().into_iter().flatten();
        list.filter_map(|one| one["name"].as_str())
    };
    let others: BTreeSet<&str> = names_of("containers")
        .chain(names_of("initContainers"))
        .collect();
    let mut names = others.clone();
    let own = spec.field("ephemeralContainers");
    for container in own.items() {
        common(container, around, findings);
        image_edges(container.field("image"), findings);
        if !names.insert(container.text_of("name")) {
            findings.duplicate(container.field("name"));
        }
        let target = container.text_of("targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            findings.not_found(container.field("targetContainerName"), "");
        }
        for field in [
            "ports",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            if container.has(field) {
                findings.forbidden(container.field(field), DETAIL);
            }
        }
        for mount in container.field("volumeMounts").items() {
            for field in ["subPath", "subPathExpr"] {
                if mount.has(field) {
                    findings.forbidden(mount.field(field), DETAIL);
                }
            }
        }
    }
}

/// `validateContainerCommon`.
fn common(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let name = at.field("name");
    match name.text() {
        "" => findings.required(name, ""),
        text => findings.problems(name, label(text)),
    }
    if at.text_of("image").is_empty() {
        findings.required(at.field("image"), "");
    }
    let message = at.field("terminationMessagePolicy");
    findings.one_of(message, &["File", "FallbackToLogsOnError"]);
    ports(at.field("ports"), findings);
    env(at.field("env"), findings);
    env_from(at.field("envFrom"), findings);
    mounts(at, around, findings);
    devices(at, around, findings);
    findings.one_of(at.field("imagePullPolicy"), &PULL_POLICIES);
    requirements(at.field("resources"), around, findings);
    resize_policies(at.field("resizePolicy"), around, findings);
    container_security(at.field("securityContext"), around, findings);
}

fn ports(at: At<'_>, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let name = port.field("name");
        if !name.text().is_empty() {
            let problems = port_name(name.text());
            if problems.is_empty() && !names.insert(port.text_of("name")) {
                findings.duplicate(name);
            }
            findings.problems(name, problems);
        }
        let own = port.field("containerPort");
        match own.number().unwrap_or(0) {
            0 => findings.required(own, ""),
            number => number_problems(own, number, findings),
        }
        let host = port.field("hostPort");
        match host.number().unwrap_or(0) {
            0 => {}
            number => number_problems(host, number, findings),
        }
        findings.one_of(port.field("protocol"), &PROTOCOLS);
    }
}

fn number_problems(at: At<'_>, number: i64, findings: &mut Findings) {
    for problem in port_number(number) {
        findings.invalid(at, &problem);
    }
}

/// `AccumulateUniqueHostPorts`.
fn host_ports(container: At<'_>, taken: &mut BTreeSet<String>, findings: &mut Findings) {
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
            findings.duplicate_value(port.field("hostPort"), &json!(name));
        }
    }
}

/// `validateContainerRestartPolicy`.
fn restart_policy(at: At<'_>, findings: &mut Findings) {
    let policy = at.field("restartPolicy");
    let rules = at.field("restartPolicyRules");
    if !policy.is_set() {
        if !rules.is_empty() {
            let detail = "must specify restartPolicy when restart rules are used";
            findings.required(policy, detail);
        }
        return;
    }
    let policies = ["Always", "Never", "OnFailure"];
    if !policies.contains(&policy.text()) {
        findings.unsupported(policy, &policies);
    }
    if rules.len() > 20 {
        findings.too_many(rules, 20);
    }
    for rule in rules.items() {
        let actions = ["Restart", "RestartAllContainers"];
        if !actions.contains(&rule.text_of("action")) {
            findings.unsupported(rule.field("action"), &actions);
        }
        let codes = rule.field("exitCodes");
        if !codes.is_set() {
            findings.required(codes, "must be specified");
            continue;
        }
        if !["In", "NotIn"].contains(&codes.text_of("operator")) {
            findings.unsupported(codes.field("operator"), &["In", "NotIn"]);
        }
        if codes.field("values").len() > 255 {
            findings.too_many(codes.field("values"), 255);
        }
    }
}

/// `validateResizePolicy`.
fn resize_policies(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for policy in at.items() {
        let resource = policy.text_of("resourceName");
        if !seen.insert(resource) {
            findings.duplicate_value(policy, &json!(resource));
        }
        let restart = policy.text_of("restartPolicy");
        findings.one_of(
            at.with(policy.field("resourceName").value()),
            &["cpu", "memory"],
        );
        findings.one_of(
            at.with(policy.field("restartPolicy").value()),
            &["NotRequired", "RestartContainer"],
        );
        if around.restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            findings.invalid_value(at, &json!(restart), detail);
        }
    }
}
