//! The PodSpec as a whole.

use std::collections::BTreeSet;

use super::containers::containers;
use super::paths::overlapping_paths;
use super::ports::{port_names, ports};
use super::scheduling::{node_labels, pod_selectors, spread_constraints};
use super::volumes::volumes;
use crate::addresses::warn_ip;
use crate::field_path::FieldPath;
use crate::pod_spec::owner::SpecOwner;
use crate::resource_list::warn_fractional_bytes;
use crate::warning_list::Warnings;

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

/// `GetWarningsForPodTemplate`.
pub(crate) fn warn_template(at: FieldPath<'_>, warnings: &mut Warnings) {
    let (metadata, spec) = (at.field("metadata"), at.field("spec"));
    warn_pod_spec(metadata, spec, SpecOwner::Template, warnings);
}

/// `warningsForPodSpecAndMeta`.
pub(crate) fn warn_pod_spec(
    metadata: FieldPath<'_>,
    spec: FieldPath<'_>,
    owner: SpecOwner,
    warnings: &mut Warnings,
) {
    let annotations = metadata.field("annotations");
    node_labels(spec, warnings);
    spread_constraints(spec.field("topologySpreadConstraints"), warnings);
    for (name, detail) in DEPRECATED {
        if annotations.has(name) {
            warnings.add_at(annotations.key(name), detail);
        }
    }
    volumes(spec.field("volumes"), warnings);
    overlapping_paths(spec.field("volumes"), warnings);
    warn_duplicates(spec.field("hostAliases"), "ip", warnings);
    warn_duplicates(spec.field("imagePullSecrets"), "name", warnings);
    for secret in spec.field("imagePullSecrets").items() {
        if secret.text_of("name").is_empty() {
            warnings.add_at(secret.field("name"), "invalid empty name \"\"");
        }
    }
    let overhead = spec.field("overhead");
    for resource in ["memory", "ephemeral-storage"] {
        warn_fractional_bytes(overhead.key(resource), warnings);
    }
    if annotations.has(SECCOMP) && !spec.field("securityContext").has("seccompProfile") {
        let detail = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.add_at(annotations.key(SECCOMP), detail);
    }
    containers(metadata, spec, owner, warnings);
    ports(spec, warnings);
    port_names(spec, warnings);
    let grace = spec.field("terminationGracePeriodSeconds");
    if grace.number().is_some_and(|seconds| seconds < 0) {
        let detail = "must be >= 0; negative values are invalid and will be treated as 1";
        warnings.add_at(grace, detail);
    }
    pod_selectors(spec.field("affinity"), warnings);
    let dns = spec.field("dnsConfig");
    for server in dns.field("nameservers").items() {
        warn_ip(server, warnings);
    }
    for alias in spec.field("hostAliases").items() {
        warn_ip(alias.field("ip"), warnings);
    }
}

/// Warns about entries of a list with the same value.
fn warn_duplicates(list: FieldPath<'_>, field: &str, warnings: &mut Warnings) {
    let mut seen = BTreeSet::new();
    for entry in list.items() {
        let value = entry.text_of(field);
        if !seen.insert(value) {
            warnings.add_at(entry.field(field), &format!("duplicate {field} {value:?}"));
        }
    }
}
