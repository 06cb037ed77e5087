use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::formats::{label, qualified_name, subdomain};
use super::super::labels::labels;
use super::super::{At, Findings};
use super::Around;
use super::affinity::{affinity, spread_constraints};
use super::container::{containers, ephemeral_containers, init_containers};
use super::resources::{pod_resources, requirements};
use super::security::pod_security;
use super::tolerations::tolerations;
use super::volume::volumes;

const LONGEST_SEARCH_LIST: usize = 2048;

/// `ValidatePodSpec`. A Pod is named, a template of one is not.
pub(super) fn spec<'a>(
    at: At<'a>,
    mut around: Around<'a>,
    pod_name: Option<&str>,
    findings: &mut Findings,
) {
    if around.grace_period.is_none() {
        findings.required(at.field("terminationGracePeriodSeconds"), "");
    }
    let good = volumes(at.field("volumes"), &around, pod_name, findings);
    let list = at.value()["volumes"].as_array().into_iter().flatten();
    let named = list.map(|volume| (volume["name"].as_str().unwrap_or_default(), volume));
    for ((name, volume), is_good) in named.zip(good) {
        if is_good {
            around.volumes.entry(name).or_insert(volume);
        }
    }
    let around = &around;
    containers(at.field("containers"), around, findings);
    init_containers(at, around, findings);
    ephemeral_containers(at, around, findings);
    pod_resources(at, around, findings);
    host_ports(at, around, findings);
    let restart = at.field("restartPolicy");
    findings.one_of(restart, &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    findings.one_of(at.field("dnsPolicy"), &policies);
    labels(at.field("nodeSelector"), findings);
    pod_security(at, findings);
    affinity(at.field("affinity"), findings);
    dns(at, findings);
    gates(at, findings);
    spread_constraints(at.field("topologySpreadConstraints"), findings);
    host_users(at, around, findings);
    names(at, findings);
    tolerations(at.field("tolerations"), findings);
    for alias in at.field("hostAliases").items() {
        address(alias.field("ip"), findings);
        for name in alias.field("hostnames").items() {
            findings.problems(name, subdomain(name.text()));
        }
    }
    rest(at, around, findings);
}

/// `validatePodHostNetworkDeps`.
fn host_ports(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    if !at.field("hostNetwork").is_true() {
        return;
    }
    for container in at.field("containers").items() {
        for port in container.field("ports").items() {
            let host = port.field("hostPort").number().unwrap_or(0);
            let own = port.field("containerPort").number().unwrap_or(0);
            if (around.is_pod || host != 0) && host != own {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                findings.invalid_value(port.field("hostPort"), &json!(host), detail);
            }
        }
    }
}

/// `validatePodDNSConfig`.
fn dns(at: At<'_>, findings: &mut Findings) {
    let config = at.field("dnsConfig");
    let servers = config.field("nameservers");
    if at.text_of("dnsPolicy") == "None" {
        if !config.is_set() {
            let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
            return findings.required(config, detail);
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return findings.required(servers, detail);
        }
    }
    if servers.len() > 3 {
        findings.invalid(servers, "must not have more than 3 nameservers");
    }
    servers.items().for_each(|server| address(server, findings));
    let searches = config.field("searches");
    if searches.len() > 32 {
        findings.invalid(searches, "must not have more than 32 search paths");
    }
    let length: usize = searches.items().map(|one| one.text().len() + 1).sum();
    if length > LONGEST_SEARCH_LIST + 1 {
        let detail = format!(
            "must not have more than {LONGEST_SEARCH_LIST} characters (including spaces) in the \
             search list"
        );
        findings.invalid(searches, &detail);
    }
    for option in config.field("options").items() {
        if option.text_of("name").is_empty() {
            findings.required(option, "must not be empty");
        }
    }
}

/// An address of either family (`IsValidIPForLegacyField`).
pub(super) fn address(at: At<'_>, findings: &mut Findings) {
    if at.text().parse::<std::net::IpAddr>().is_err() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        findings.invalid_text(at, detail);
    }
}

fn gates(at: At<'_>, findings: &mut Findings) {
    for gate in at.field("readinessGates").items() {
        let kind = gate.field("conditionType");
        findings.problems(kind, qualified_name(kind.text()));
    }
    let mut seen = BTreeSet::new();
    for gate in at.field("schedulingGates").items() {
        let name = json!(gate.text_of("name"));
        for problem in qualified_name(gate.text_of("name")) {
            findings.invalid_value(gate, &name, &problem);
        }
        if !seen.insert(gate.text_of("name")) {
            findings.duplicate_value(gate, &name);
        }
    }
}

/// `validateHostUsers`.
fn host_users(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    if around.on_host_users {
        return;
    }
    let detail = "when `hostUsers` is false";
    if at.field("hostNetwork").is_true() {
        findings.forbidden(at.field("hostNetwork"), detail);
    }
    for (field, shown) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if at.field(field).is_true() {
            findings.forbidden(at.field(shown), detail);
        }
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in at.field(list).items() {
            if !container.field("volumeDevices").is_empty() {
                findings.forbidden(container.field("volumeDevices"), detail);
            }
        }
    }
}

fn names(at: At<'_>, findings: &mut Findings) {
    let given = |field: &'static str| Some(at.text_of(field)).filter(|text| !text.is_empty());
    if given("serviceAccountName").is_some() {
        let name = at.field("serviceAccountName");
        findings.problems(name, subdomain(name.text()));
    }
    if given("nodeName").is_some() {
        let name = at.field("nodeName");
        findings.problems(name, subdomain(name.text()));
    }
    let deadline = at.field("activeDeadlineSeconds");
    let longest = i64::from(i32::MAX);
    if deadline
        .number()
        .is_some_and(|seconds| !(1..=longest).contains(&seconds))
    {
        findings.invalid(deadline, "must be between 1 and 2147483647, inclusive");
    }
    for field in ["hostname", "subdomain"] {
        if given(field).is_some() {
            let name = at.field(field);
            findings.problems(name, label(name.text()));
        }
    }
}

fn rest(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    for field in ["priorityClassName", "runtimeClassName"] {
        let name = at.field(field);
        let is_checked = name.is_set() && (field == "runtimeClassName" || !name.text().is_empty());
        if is_checked {
            findings.problems(name, subdomain(name.text()));
        }
    }
    let preemption = at.field("preemptionPolicy");
    if preemption.is_set() {
        findings.one_of(preemption, &["PreemptLowerPriority", "Never"]);
    }
    if at.has("overhead") {
        let limits = json!({"limits": at.field("overhead").value()});
        requirements(at.field("overhead").with(&limits), around, findings);
    }
    let system = at.field("os");
    if system.is_set() {
        match around.system {
            "" => findings.required(system.field("name"), ""),
            "linux" | "windows" => {}
            name => findings.unsupported(system.with(&Value::from(name)), &["linux", "windows"]),
        }
    }
}
