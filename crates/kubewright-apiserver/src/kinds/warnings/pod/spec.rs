use std::collections::BTreeSet;

use serde_json::Value;

use super::super::addresses::address;
use super::super::amounts::whole_bytes;
use super::super::{At, Told};
use super::containers::{Standing, app_armor, containers, each_container};
use super::paths::overlapping_paths;
use super::ports::{port_names, ports};
use super::scheduling::{node_labels, pod_selectors, spread_constraints};
use super::volumes::volumes;
use crate::kinds::NameRule;

const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const DEPRECATED: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// A new Pod; of a changed one nothing is said.
pub(in super::super) fn pod(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_some() {
        return;
    }
    let (metadata, spec) = (At::top(object, "metadata"), At::top(object, "spec"));
    // Told while the Pod is prepared, before all else (`applyAppArmorVersionSkew`).
    if spec.field("os").text_of("name") != "windows" {
        each_container(spec, |container| app_armor(metadata, spec, container, told));
    }
    host_name(metadata.field("name"), "the Pod's hostname", told);
    specification(metadata, spec, Standing::Alone, told);
}

/// `GetWarningsForPodTemplate`.
pub(in super::super) fn template(at: At<'_>, told: &mut Told) {
    let (metadata, spec) = (at.field("metadata"), at.field("spec"));
    specification(metadata, spec, Standing::InTemplate, told);
}

/// The addresses of a Pod and its node.
pub(in super::super) fn status(object: &Value, told: &mut Told) {
    let status = At::top(object, "status");
    for list in ["podIPs", "hostIPs"] {
        for one in status.field(list).items() {
            address(one.field("ip"), told);
        }
    }
}

/// A name that hosts get should be one of a host.
pub(in super::super) fn host_name(at: At<'_>, used: &str, told: &mut Told) {
    let problems = NameRule::Label.problems(at.text());
    if problems.is_empty() {
        return;
    }
    let detail = format!(
        "this is used in {used}, which can result in surprising behavior; a DNS label is \
         recommended: [{}]",
        problems.join(" ")
    );
    told.at(at, &detail);
}

/// `warningsForPodSpecAndMeta`.
fn specification(metadata: At<'_>, spec: At<'_>, standing: Standing, told: &mut Told) {
    let annotations = metadata.field("annotations");
    node_labels(spec, told);
    spread_constraints(spec.field("topologySpreadConstraints"), told);
    for (name, detail) in DEPRECATED {
        if annotations.has(name) {
            told.at(annotations.key(name), detail);
        }
    }
    volumes(spec.field("volumes"), told);
    overlapping_paths(spec.field("volumes"), told);
    unique(spec.field("hostAliases"), "ip", told);
    unique(spec.field("imagePullSecrets"), "name", told);
    for secret in spec.field("imagePullSecrets").items() {
        if secret.text_of("name").is_empty() {
            told.at(secret.field("name"), "invalid empty name \"\"");
        }
    }
    let overhead = spec.field("overhead");
    for resource in ["memory", "ephemeral-storage"] {
        whole_bytes(overhead.key(resource), told);
    }
    if annotations.has(SECCOMP) && !spec.field("securityContext").has("seccompProfile") {
        let detail = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        told.at(annotations.key(SECCOMP), detail);
    }
    containers(metadata, spec, standing, told);
    ports(spec, told);
    port_names(spec, told);
    let grace = spec.field("terminationGracePeriodSeconds");
    if grace.number().is_some_and(|seconds| seconds < 0) {
        let detail = "must be >= 0; negative values are invalid and will be treated as 1";
        told.at(grace, detail);
    }
    pod_selectors(spec.field("affinity"), told);
    let dns = spec.field("dnsConfig");
    for server in dns.field("nameservers").items() {
        address(server, told);
    }
    for alias in spec.field("hostAliases").items() {
        address(alias.field("ip"), told);
    }
}

/// Only one entry of a list should have a value.
fn unique(list: At<'_>, field: &str, told: &mut Told) {
    let mut seen = BTreeSet::new();
    for entry in list.items() {
        let value = entry.text_of(field);
        if !seen.insert(value) {
            told.at(entry.field(field), &format!("duplicate {field} {value:?}"));
        }
    }
}
