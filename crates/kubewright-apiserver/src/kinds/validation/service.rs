use std::collections::BTreeSet;

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use super::formats::{label, port_number, qualified_name, subdomain};
use super::labels::labels;
use super::pod::port;
use super::{At, Findings};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const LONGEST_AFFINITY: i64 = 86_400;

/// `ValidateServiceCreate`, `ValidateServiceUpdate`.
pub(super) fn service(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    if let Some(old) = old {
        changed(spec, &old["spec"], findings);
    }
    let is_headless = spec.text_of("clusterIP") == "None";
    let kind = spec.text_of("type");
    if spec.field("ports").is_empty() && !is_headless && kind != "ExternalName" {
        findings.required(spec.field("ports"), "");
    }
    by_type(spec, kind, is_headless, findings);
    ports(spec.field("ports"), findings);
    labels(spec.field("selector"), findings);
    affinity(spec, findings);
    for address in spec.field("externalIPs").items() {
        if address.text().parse::<std::net::IpAddr>().is_err() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            findings.invalid(address, detail);
        }
    }
    findings.one_of(spec.field("type"), &TYPES);
    unique_ports(spec, kind, findings);
    balancing(spec, kind, findings);
    traffic(spec, kind, findings);
}

fn by_type(spec: At<'_>, kind: &str, is_headless: bool, findings: &mut Findings) {
    let addresses = spec.field("clusterIPs");
    match kind {
        "LoadBalancer" | "NodePort" if is_headless => {
            let detail = format!("may not be set to 'None' for {kind} services");
            findings.invalid_value(addresses.index(0), &json!("None"), &detail);
        }
        "ExternalName" => {
            let given = !addresses.is_empty() || !spec.text_of("clusterIP").is_empty();
            let detail = "may not be set for ExternalName services";
            if given {
                findings.forbidden(addresses, detail);
            }
            for field in ["ipFamilies", "ipFamilyPolicy"] {
                if spec.has(field) {
                    findings.forbidden(spec.field(field), detail);
                }
            }
            let name = spec.field("externalName");
            match name.text().strip_suffix('.').unwrap_or(name.text()) {
                "" => findings.required(name, ""),
                text => {
                    for problem in subdomain(text) {
                        findings.invalid_value(name, &json!(text), &problem);
                    }
                }
            }
        }
        _ => {}
    }
}

fn ports(at: At<'_>, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for one in at.items() {
        let name = one.field("name");
        match name.text() {
            "" if at.len() > 1 => findings.required(name, ""),
            "" => {}
            text => {
                findings.problems(name, label(text));
                if !names.insert(one.text_of("name")) {
                    findings.duplicate(name);
                }
            }
        }
        let number = one.field("port").number().unwrap_or(0);
        for problem in port_number(number) {
            findings.invalid_value(one.field("port"), &json!(number), &problem);
        }
        findings.one_of(one.field("protocol"), &PROTOCOLS);
        port(one.field("targetPort"), findings);
        let protocol = one.field("appProtocol");
        if protocol.is_set() {
            findings.problems(protocol, qualified_name(protocol.text()));
        }
    }
}

fn affinity(spec: At<'_>, findings: &mut Findings) {
    let at = spec.field("sessionAffinity");
    findings.one_of(at, &["ClientIP", "None"]);
    let config = spec.field("sessionAffinityConfig");
    if at.text() != "ClientIP" {
        return;
    }
    let client = config.field("clientIP");
    let seconds = client.field("timeoutSeconds");
    if !(1..=LONGEST_AFFINITY).contains(&seconds.number().unwrap_or(0)) {
        let detail = format!("must be greater than 0 and less than {LONGEST_AFFINITY}");
        findings.invalid(seconds, &detail);
    }
}

fn unique_ports(spec: At<'_>, kind: &str, findings: &mut Findings) {
    let at = spec.field("ports");
    let node_port = |one: At<'_>| one.field("nodePort").number().unwrap_or(0);
    if kind == "ClusterIP" {
        for one in at.items().filter(|one| node_port(*one) != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            findings.forbidden(one.field("nodePort"), detail);
        }
    }
    let mut taken = BTreeSet::new();
    for one in at.items().filter(|one| node_port(*one) != 0) {
        if !taken.insert((one.text_of("protocol"), node_port(one))) {
            findings.duplicate(one.field("nodePort"));
        }
    }
    let mut taken = BTreeSet::new();
    for one in at.items() {
        let number = one.field("port").number().unwrap_or(0);
        if !taken.insert((one.text_of("protocol"), number)) {
            // Kubernetes shows its internal type, in the order of its fields.
            let protocol = one.text_of("protocol");
            findings.add(Cause {
                kind: Some(CauseKind::FieldValueDuplicate),
                message: format!(
                    "Duplicate value: {{\"Name\":\"\",\"Protocol\":{protocol:?},\
                     \"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}"
                ),
                field: one.path(),
            });
        }
    }
}

fn balancing(spec: At<'_>, kind: &str, findings: &mut Findings) {
    let only = "may only be used when `type` is 'LoadBalancer'";
    if kind == "LoadBalancer" {
        return;
    }
    if !spec.field("loadBalancerSourceRanges").is_empty() {
        findings.forbidden(spec.field("LoadBalancerSourceRanges"), only);
    }
    if spec.has("allocateLoadBalancerNodePorts") {
        findings.forbidden(spec.field("allocateLoadBalancerNodePorts"), only);
    }
    if spec.has("loadBalancerClass") {
        findings.forbidden(spec.field("loadBalancerClass"), only);
    }
}

fn traffic(spec: At<'_>, kind: &str, findings: &mut Findings) {
    let outward = spec.field("externalTrafficPolicy");
    let is_outward = matches!(kind, "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && !spec.field("externalIPs").is_empty();
    match (is_outward, outward.text()) {
        (false, "") => {}
        (false, _) => {
            let detail = "may only be set for externally-accessible services";
            findings.invalid(outward, detail);
        }
        (true, _) => findings.one_of(outward, &["Cluster", "Local"]),
    }
    let inward = spec.field("internalTrafficPolicy");
    match (kind, inward.is_set()) {
        ("NodePort" | "LoadBalancer" | "ClusterIP", false) => findings.required(inward, ""),
        (_, true) if !["Cluster", "Local"].contains(&inward.text()) => {
            findings.unsupported(inward, &["Cluster", "Local"]);
        }
        _ => {}
    }
    let distribution = spec.field("trafficDistribution");
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if distribution.is_set() && !known.contains(&distribution.text()) {
        findings.unsupported(distribution, &known);
    }
}

/// An address is kept for the life of a Service, unless it becomes or stops being an alias.
fn changed(spec: At<'_>, old: &Value, findings: &mut Findings) {
    let was_alias = old["type"] == "ExternalName";
    if was_alias || spec.text_of("type") == "ExternalName" {
        return;
    }
    let before = &old["clusterIPs"][0];
    let addresses = spec.field("clusterIPs");
    let is_changed = before.is_string() && addresses.index(0).value() != before;
    if is_changed {
        let shown = addresses.value();
        findings.invalid_value(addresses.index(0), shown, "may not change once set");
    }
}
