use serde_json::{Value, json};

use super::formats::{qualified_name, subdomain};
use super::{At, Findings};

/// `ValidateNamespaceStatusUpdate`.
pub(super) fn namespace(object: &Value, _old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    let phase = json!(status.text_of("phase"));
    // Kubernetes writes this one field as Go does.
    let at = status.field("Phase");
    match object["metadata"]["deletionTimestamp"].is_string() {
        false if phase != "Active" => {
            let detail = "may only be 'Active' if `deletionTimestamp` is empty";
            findings.invalid_value(at, &phase, detail);
        }
        true if phase != "Terminating" => {
            let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
            findings.invalid_value(at, &phase, detail);
        }
        _ => {}
    }
}

/// `ValidateDeploymentStatusUpdate`.
pub(super) fn deployment(object: &Value, old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    for name in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ] {
        findings.non_negative(status.field(name));
    }
    at_most_all(status, "updatedReplicas", findings);
    ready_and_available(status, findings);
    let collisions = status.field("collisionCount");
    let before = old["status"]["collisionCount"].as_i64();
    if before.is_some_and(|before| collisions.number().is_none_or(|now| now < before)) {
        let shown = json!(collisions.number().unwrap_or(0));
        findings.invalid_value(collisions, &shown, "cannot be decremented");
    }
}

/// `ValidateReplicaSetStatusUpdate`.
pub(super) fn replica_set(object: &Value, _old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    for name in [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ] {
        findings.non_negative(status.field(name));
    }
    at_most_all(status, "fullyLabeledReplicas", findings);
    ready_and_available(status, findings);
}

fn count(status: At<'_>, name: &str) -> i64 {
    status.field(name).number().unwrap_or(0)
}

fn at_most_all(status: At<'_>, name: &str, findings: &mut Findings) {
    let found = count(status, name);
    if found > count(status, "replicas") {
        let detail = "cannot be greater than status.replicas";
        findings.invalid_value(status.field(name), &json!(found), detail);
    }
}

fn ready_and_available(status: At<'_>, findings: &mut Findings) {
    at_most_all(status, "readyReplicas", findings);
    at_most_all(status, "availableReplicas", findings);
    let available = count(status, "availableReplicas");
    if available > count(status, "readyReplicas") {
        let at = status.field("availableReplicas");
        let detail = "cannot be greater than readyReplicas";
        findings.invalid_value(at, &json!(available), detail);
    }
}

/// `ValidatePodDisruptionBudgetStatusUpdate`, without what it says of conditions.
pub(super) fn budget(object: &Value, _old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        findings.non_negative(status.field(name));
    }
}

/// `ValidateServiceStatusUpdate`.
pub(super) fn service(object: &Value, old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    let balancer = status.field("loadBalancer");
    let ingress = balancer.field("ingress");
    if object["spec"]["type"] != "LoadBalancer" {
        if !ingress.is_empty() {
            let detail = "may only be used when `spec.type` is 'LoadBalancer'";
            findings.forbidden(ingress, detail);
        }
        return;
    }
    let before = &old["status"]["loadBalancer"]["ingress"];
    for one in ingress.items() {
        let (address, mode) = (one.field("ip"), one.field("ipMode"));
        new_address(address, &known_addresses(before), findings);
        match (mode.is_set(), address.text().is_empty()) {
            (false, false) => findings.required(mode, "must be specified when `ip` is set"),
            (true, true) => findings.forbidden(mode, "may not be specified when `ip` is not set"),
            (true, false) if !matches!(mode.text(), "Proxy" | "VIP") => {
                findings.unsupported(mode, &["Proxy", "VIP"]);
            }
            _ => {}
        }
        let host = one.field("hostname");
        if !host.text().is_empty() {
            findings.problems(host, subdomain(host.text()));
            if is_address(host.text()) {
                findings.invalid(host, "must be a DNS name, not an IP address");
            }
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}

/// The addresses of a list of entries with an `ip`.
pub(super) fn known_addresses(entries: &Value) -> Vec<&str> {
    let entries = entries.as_array().into_iter().flatten();
    entries.filter_map(|one| one["ip"].as_str()).collect()
}

/// `IsValidIPForLegacyField`: what was there before may stay.
pub(super) fn new_address(at: At<'_>, known: &[&str], findings: &mut Findings) {
    let text = at.text();
    if text.is_empty() || known.contains(&text) || is_address(text) {
        return;
    }
    let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    findings.invalid(at, detail);
}

/// `validatePodConditions`.
pub(super) fn pod_conditions(conditions: At<'_>, findings: &mut Findings) {
    for condition in conditions.items() {
        let generation = condition.field("observedGeneration");
        if generation.number().is_some_and(|number| number < 0) {
            findings.invalid(generation, "must be a non-negative integer");
        }
        let kind = condition.text_of("type");
        if matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            continue;
        }
        // Written as Go does.
        let at = condition.field("Type");
        for problem in qualified_name(kind) {
            findings.invalid_value(at, &json!(kind), &problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Findings;
    use super::{deployment, namespace, replica_set, service};

    type Check = fn(&Value, &Value, &mut Findings);

    fn told(check: Check, object: &Value, old: &Value) -> Vec<String> {
        let mut findings = Findings::default();
        check(object, old, &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn no_more_replicas_are_ready_than_there_are() {
        let status = json!({"status": {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}});
        let wanted = [
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
        ];
        assert_eq!(told(deployment, &status, &json!({})), wanted);
        assert_eq!(told(replica_set, &status, &json!({})), wanted);
    }

    #[test]
    fn counts_are_not_negative_and_collisions_do_not_go_back() {
        let old = json!({"status": {"collisionCount": 2}});
        let new = json!({"status": {"replicas": -1}});
        assert_eq!(
            told(deployment, &new, &old),
            [
                "status.replicas: Invalid value: -1: must be greater than or equal to 0",
                "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas",
                "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas",
                "status.availableReplicas: Invalid value: 0: cannot be greater than \
                 status.replicas",
                "status.collisionCount: Invalid value: 0: cannot be decremented",
            ]
        );
    }

    #[test]
    fn a_namespace_is_active_until_it_goes() {
        let new = json!({"metadata": {}, "status": {"phase": "Terminating"}});
        assert_eq!(
            told(namespace, &new, &json!({})),
            [
                "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if \
                 `deletionTimestamp` is empty"
            ]
        );
    }

    #[test]
    fn only_a_load_balancer_has_addresses_outside_and_they_say_how_they_lead_in() {
        let plain = json!({"spec": {"type": "ClusterIP"},
            "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}});
        assert_eq!(
            told(service, &plain, &json!({})),
            [
                "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is \
                 'LoadBalancer'"
            ]
        );
        let balanced = json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {
            "ingress": [{"ip": "no"}, {"hostname": "10.0.0.1"}]}}});
        assert_eq!(
            told(service, &balanced, &json!({})),
            [
                "status.loadBalancer.ingress[0].ip: Invalid value: \"no\": must be a valid IP \
                 address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
                "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when \
                 `ip` is set",
                "status.loadBalancer.ingress[1].hostname: Invalid value: \"10.0.0.1\": must be a \
                 DNS name, not an IP address",
            ]
        );
    }
}
