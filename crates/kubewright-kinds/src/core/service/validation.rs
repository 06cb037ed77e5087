//! Validation of a Service (`ValidateServiceCreate`, `ValidateServiceUpdate`).

use kubewright_core::format::{label, port_number, qualified_name, subdomain};
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

use crate::addresses::validate_ip;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::validate_labels;
use crate::pod_spec::validate_port;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

const POLICIES: [&str; 2] = ["Cluster", "Local"];
const LONGEST_AFFINITY: i64 = 86_400;

/// `ValidateServiceCreate`, `ValidateServiceUpdate`.
pub(super) fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    if let Some(old) = old {
        validate_address_update(spec, &old["spec"], errors);
    }
    let is_headless = spec.text_of("clusterIP") == "None";
    let kind = spec.text_of("type");
    if spec.field("ports").is_empty() && !is_headless && kind != "ExternalName" {
        errors.required(spec.field("ports"), "");
    }
    validate_type(spec, errors);
    validate_ports(spec.field("ports"), errors);
    validate_labels(spec.field("selector"), errors);
    validate_affinity(spec, errors);
    for address in spec.field("externalIPs").items() {
        validate_ip(address, errors);
    }
    errors.one_of(spec.field("type"), &TYPES);
    validate_unique_ports(spec, errors);
    validate_load_balancer(spec, errors);
    validate_traffic(spec, errors);
}

fn validate_type(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let kind = spec.text_of("type");
    let is_headless = spec.text_of("clusterIP") == "None";
    let addresses = spec.field("clusterIPs");
    match kind {
        "LoadBalancer" | "NodePort" if is_headless => {
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.invalid_value(addresses.index(0), &json!("None"), &detail);
        }
        "ExternalName" => {
            let given = !addresses.is_empty() || !spec.text_of("clusterIP").is_empty();
            let detail = "may not be set for ExternalName services";
            if given {
                errors.forbidden(addresses, detail);
            }
            for field in ["ipFamilies", "ipFamilyPolicy"] {
                if spec.has(field) {
                    errors.forbidden(spec.field(field), detail);
                }
            }
            let name = spec.field("externalName");
            match name.text().strip_suffix('.').unwrap_or(name.text()) {
                "" => errors.required(name, ""),
                text => {
                    for problem in subdomain(text) {
                        errors.invalid_value(name, &json!(text), &problem);
                    }
                }
            }
        }
        _ => {}
    }
}

fn validate_ports(at: FieldPath<'_>, errors: &mut ErrorList) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let name = port.field("name");
        match name.text() {
            "" if at.len() > 1 => errors.required(name, ""),
            "" => {}
            text => {
                errors.problems(name, label(text));
                if !names.insert(port.text_of("name")) {
                    errors.duplicate(name);
                }
            }
        }
        let number = port.field("port").number().unwrap_or(0);
        for problem in port_number(number) {
            errors.invalid_value(port.field("port"), &json!(number), &problem);
        }
        errors.one_of(port.field("protocol"), &PROTOCOLS);
        validate_port(port.field("targetPort"), errors);
        let protocol = port.field("appProtocol");
        if protocol.is_set() {
            errors.problems(protocol, qualified_name(protocol.text()));
        }
    }
}

fn validate_affinity(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let at = spec.field("sessionAffinity");
    errors.one_of(at, &["ClientIP", "None"]);
    let config = spec.field("sessionAffinityConfig");
    if at.text() != "ClientIP" {
        return;
    }
    let client = config.field("clientIP");
    let seconds = client.field("timeoutSeconds");
    if !(1..=LONGEST_AFFINITY).contains(&seconds.number().unwrap_or(0)) {
        let detail = format!("must be greater than 0 and less than {LONGEST_AFFINITY}");
        errors.invalid(seconds, &detail);
    }
}

fn validate_unique_ports(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let ports = spec.field("ports");
    let number = |port: FieldPath<'_>, field: &str| port.field(field).number().unwrap_or(0);
    let has_node_port = |port: &FieldPath<'_>| number(*port, "nodePort") != 0;
    if spec.text_of("type") == "ClusterIP" {
        for port in ports.items().filter(has_node_port) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(port.field("nodePort"), detail);
        }
    }
    let mut node_ports = BTreeSet::new();
    for port in ports.items().filter(has_node_port) {
        if !node_ports.insert((port.text_of("protocol"), number(port, "nodePort"))) {
            errors.duplicate(port.field("nodePort"));
        }
    }
    let mut numbers = BTreeSet::new();
    for port in ports.items() {
        let (protocol, number) = (port.text_of("protocol"), number(port, "port"));
        if !numbers.insert((protocol, number)) {
            // Kubernetes shows its internal type, in the order of its fields.
            errors.add(Cause {
                kind: Some(CauseKind::FieldValueDuplicate),
                message: format!(
                    "Duplicate value: {{\"Name\":\"\",\"Protocol\":{protocol:?},\
                     \"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}"
                ),
                field: port.path(),
            });
        }
    }
}

fn validate_load_balancer(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let only = "may only be used when `type` is 'LoadBalancer'";
    if spec.text_of("type") == "LoadBalancer" {
        return;
    }
    if !spec.field("loadBalancerSourceRanges").is_empty() {
        errors.forbidden(spec.field("LoadBalancerSourceRanges"), only);
    }
    if spec.has("allocateLoadBalancerNodePorts") {
        errors.forbidden(spec.field("allocateLoadBalancerNodePorts"), only);
    }
    if spec.has("loadBalancerClass") {
        errors.forbidden(spec.field("loadBalancerClass"), only);
    }
}

fn validate_traffic(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let kind = spec.text_of("type");
    let external = spec.field("externalTrafficPolicy");
    let is_external = matches!(kind, "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && !spec.field("externalIPs").is_empty();
    if is_external {
        errors.one_of(external, &POLICIES);
    } else if !external.text().is_empty() {
        let detail = "may only be set for externally-accessible services";
        errors.invalid(external, detail);
    }
    let internal = spec.field("internalTrafficPolicy");
    match (kind, internal.is_set()) {
        ("NodePort" | "LoadBalancer" | "ClusterIP", false) => errors.required(internal, ""),
        (_, true) if !POLICIES.contains(&internal.text()) => {
            errors.unsupported(internal, &POLICIES);
        }
        _ => {}
    }
    let distribution = spec.field("trafficDistribution");
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if distribution.is_set() && !known.contains(&distribution.text()) {
        errors.unsupported(distribution, &known);
    }
}

/// The address of a Service does not change, except from or to an ExternalName.
fn validate_address_update(spec: FieldPath<'_>, old: &Value, errors: &mut ErrorList) {
    if old["type"] == "ExternalName" || spec.text_of("type") == "ExternalName" {
        return;
    }
    let before = &old["clusterIPs"][0];
    let addresses = spec.field("clusterIPs");
    if before.is_string() && addresses.index(0).value() != before {
        let shown = addresses.value();
        errors.invalid_value(addresses.index(0), shown, "may not change once set");
    }
}
