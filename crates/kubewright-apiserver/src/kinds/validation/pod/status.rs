use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::status::{known_addresses, new_address, pod_conditions};
use super::super::{At, Findings, formats};
use super::create::annotations_update;

/// `ValidatePodStatusUpdate`, without what it says of devices and claims.
pub(in super::super) fn pod_status(object: &Value, old: &Value, findings: &mut Findings) {
    annotations_update(object, old, findings);
    let status = At::top(object, "status");
    pod_conditions(status.field("conditions"), findings);
    nominated_node(status, old, findings);
    let generation = status.field("observedGeneration");
    if generation.number().is_some_and(|number| number < 0) {
        findings.invalid(generation, "must be a non-negative integer");
    }
    findings.immutable(status.field("qosClass"), &old["status"]["qosClass"]);
    let fates = [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", ""),
    ];
    for (statuses, containers) in fates {
        if containers.is_empty() || !restarts_all(&old["spec"]) {
            ended_stay_ended(
                status.field(statuses),
                old,
                (statuses, containers),
                findings,
            );
        }
    }
    addresses(status.field("podIPs"), &old["status"]["podIPs"], findings);
    let hosts = status.field("hostIPs");
    let host = hosts.index(0);
    if host.is_set() && host.text_of("ip") != status.text_of("hostIP") {
        findings.invalid_text(host.field("ip"), "must be equal to `hostIP`");
    }
    addresses(hosts, &old["status"]["hostIPs"], findings);
}

fn nominated_node(status: At<'_>, old: &Value, findings: &mut Findings) {
    let at = status.field("nominatedNodeName");
    let before = old["status"]["nominatedNodeName"].as_str();
    if at.text().is_empty() || at.text() == before.unwrap_or_default() {
        return;
    }
    findings.problems(at, formats::subdomain(at.text()));
    let node = old["spec"]["nodeName"].as_str();
    if node.is_some_and(|node| !node.is_empty()) {
        let detail = "may not be set on pods that are already bound to a node";
        findings.forbidden(at, detail);
    }
}

/// Whether some container can have all of them started again (`AllContainersCouldRestart`).
fn restarts_all(spec: &Value) -> bool {
    let lists = ["containers", "initContainers"].into_iter();
    let mut containers = lists.flat_map(|list| spec[list].as_array().into_iter().flatten());
    containers.any(|container| {
        let rules = container["restartPolicyRules"].as_array();
        let mut rules = rules.into_iter().flatten();
        rules.any(|rule| rule["action"] == "RestartAllContainers")
    })
}

/// A container that ended and will not be started again stays ended.
fn ended_stay_ended(
    now: At<'_>,
    old: &Value,
    (statuses, containers): (&str, &str),
    findings: &mut Findings,
) {
    let before = old["status"][statuses].as_array();
    let mut shown = BTreeMap::new();
    for status in now.items() {
        shown.entry(status.text_of("name")).or_insert(status);
    }
    let mut specs = BTreeMap::new();
    for container in old["spec"][containers].as_array().into_iter().flatten() {
        let name = container["name"].as_str().unwrap_or_default();
        specs.entry(name).or_insert(container);
    }
    for (index, one) in before.into_iter().flatten().enumerate() {
        let Some(end) = one["state"].get("terminated").filter(|end| !end.is_null()) else {
            continue;
        };
        let name = one["name"].as_str().unwrap_or_default();
        let Some(shown) = shown.get(name) else {
            continue;
        };
        let is_ended = shown.field("state").has("terminated");
        let code = end["exitCode"].as_i64().unwrap_or(0);
        let container = specs.get(name);
        if is_ended || container.is_some_and(|container| restarts(&old["spec"], container, code)) {
            continue;
        }
        let place = now.index(index);
        let detail = "may not be transitioned to non-terminated state";
        findings.forbidden(place.field("state"), detail);
    }
}

/// `ContainerShouldRestart`.
fn restarts(spec: &Value, container: &Value, code: i64) -> bool {
    let own = container["restartPolicy"].as_str();
    if own.is_some() && rule_of(container, code).is_some_and(|rule| rule["action"] == "Restart") {
        return true;
    }
    let of_pod = spec["restartPolicy"].as_str().unwrap_or("Always");
    match own.unwrap_or(of_pod) {
        "OnFailure" => code != 0,
        "Never" => false,
        _ => true,
    }
}

/// The first rule of a container about an exit code.
fn rule_of(container: &Value, code: i64) -> Option<&Value> {
    let rules = container["restartPolicyRules"].as_array()?;
    rules.iter().find(|rule| {
        let codes = &rule["exitCodes"];
        let mut values = codes["values"].as_array().into_iter().flatten();
        let is_named = values.any(|value| value.as_i64() == Some(code));
        match codes["operator"].as_str() {
            Some("In") => is_named,
            Some("NotIn") => !is_named,
            _ => false,
        }
    })
}

fn addresses(list: At<'_>, old: &Value, findings: &mut Findings) {
    for entry in list.items() {
        // The place of the entry is told, not that of its address.
        let address = entry.field("ip");
        new_address(entry.with(address.value()), &known_addresses(old), findings);
    }
    let is_v6 = |entry: At<'_>| entry.text_of("ip").contains(':');
    let (first, second) = (list.index(0), list.index(1));
    let is_pair = list.len() == 2 && is_v6(first) != is_v6(second);
    if list.len() > 1 && !is_pair {
        let detail = "may specify no more than one IP for each IP family";
        // Shown as Go prints the type that Kubernetes has inside.
        let shown: Vec<Value> = list
            .items()
            .map(|entry| json!({"IP": entry.text_of("ip")}))
            .collect();
        findings.invalid_value(list, &Value::from(shown), detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::super::Findings;
    use super::pod_status;

    fn told(new: &Value, old: &Value) -> Vec<String> {
        let mut findings = Findings::default();
        pod_status(new, old, &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    fn pod(policy: &str, state: &Value) -> Value {
        json!({
            "spec": {"restartPolicy": policy, "containers": [{"name": "main"}]},
            "status": {"qosClass": "BestEffort",
                "containerStatuses": [{"name": "main", "state": state}]},
        })
    }

    #[test]
    fn a_container_that_will_not_start_again_stays_ended() {
        let failed = json!({"terminated": {"exitCode": 1}});
        let done = json!({"terminated": {"exitCode": 0}});
        let running = json!({"running": {}});
        let refused = "status.containerStatuses[0].state: Forbidden: may not be transitioned to \
                       non-terminated state";
        for (policy, before, is_refused) in [
            ("Never", &failed, true),
            ("OnFailure", &failed, false),
            ("OnFailure", &done, true),
            ("Always", &done, false),
        ] {
            let told = told(&pod(policy, &running), &pod(policy, before));
            let expected: &[&str] = if is_refused { &[refused] } else { &[] };
            assert_eq!(told, expected, "{policy}");
        }
    }

    #[test]
    fn the_class_of_a_pod_stays_and_conditions_have_names() {
        let old = pod("Always", &json!({}));
        let mut new = old.clone();
        new["status"]["qosClass"] = json!("Guaranteed");
        new["status"]["conditions"] = json!([{"type": "Ready"}, {"type": "a b"}]);
        new["status"]["podIPs"] = json!([{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]);
        let told = told(&new, &old);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("status.conditions[1].Type: Invalid value: \"a b\": "));
        assert_eq!(
            told[1],
            "status.qosClass: Invalid value: \"Guaranteed\": field is immutable"
        );
        assert!(told[2].starts_with("status.podIPs: Invalid value: "));
    }
}
