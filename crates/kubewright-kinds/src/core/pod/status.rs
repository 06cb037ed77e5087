//! The status subresource.

use std::collections::{BTreeMap, VecDeque};

use kubewright_core::format::{qualified_name, subdomain};
use serde_json::{Map, Value, json};

use super::update::validate_annotations_update;
use crate::addresses::{known_ips, validate_new_ip};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::{items, objects_mut, text};

/// Keeps the fields that a kubelet of an older version does not send.
pub(super) fn prepare(old: &Value, object: &mut Map<String, Value>) {
    let old_status = &old["status"];
    let status = object.entry("status").or_insert_with(|| json!({}));
    let Some(status) = status.as_object_mut() else {
        return;
    };
    let is_given = status
        .get("qosClass")
        .and_then(Value::as_str)
        .is_some_and(|class| !class.is_empty());
    if let Some(class) = old_status.get("qosClass").filter(|_| !is_given) {
        status.insert("qosClass".to_owned(), class.clone());
    }
    keep_generation(status, old_status.get("observedGeneration"));
    // Several conditions may have one type: the first of them is compared with the first.
    let mut before: BTreeMap<String, VecDeque<&Value>> = BTreeMap::new();
    for condition in items(&old_status["conditions"]) {
        let kind = condition["type"].to_string();
        before.entry(kind).or_default().push_back(condition);
    }
    for condition in objects_mut(status.get_mut("conditions")) {
        let kind = condition.get("type").unwrap_or(&Value::Null).to_string();
        let of_type = before.get_mut(&kind);
        if let Some(found) = of_type.and_then(VecDeque::pop_front) {
            keep_generation(condition, found.get("observedGeneration"));
        }
    }
}

fn keep_generation(members: &mut Map<String, Value>, old: Option<&Value>) {
    let is_given = members
        .get("observedGeneration")
        .and_then(Value::as_i64)
        .is_some_and(|generation| generation != 0);
    if let Some(old) = old.filter(|_| !is_given) {
        members.insert("observedGeneration".to_owned(), old.clone());
    }
}

/// `ValidatePodStatusUpdate`, except for devices and claims.
pub(super) fn validate(object: &Value, old: &Value, errors: &mut ErrorList) {
    validate_annotations_update(object, old, errors);
    let status = FieldPath::new(object, "status");
    validate_conditions(status.field("conditions"), errors);
    validate_nominated_node(status, old, errors);
    let generation = status.field("observedGeneration");
    if generation.number().is_some_and(|number| number < 0) {
        errors.invalid(generation, "must be a non-negative integer");
    }
    errors.immutable(status.field("qosClass"), &old["status"]["qosClass"]);
    let may_restart_all = restarts_all(&old["spec"]);
    for lists in [
        ContainerLists::new("containerStatuses", "containers"),
        ContainerLists::new("initContainerStatuses", "initContainers"),
    ] {
        if !may_restart_all {
            validate_terminated(status, old, lists, errors);
        }
    }
    // Ephemeral containers are never restarted.
    let ephemeral = ContainerLists::new("ephemeralContainerStatuses", "");
    validate_terminated(status, old, ephemeral, errors);
    validate_ips(status.field("podIPs"), &old["status"]["podIPs"], errors);
    let hosts = status.field("hostIPs");
    let host = hosts.index(0);
    if host.is_set() && host.text_of("ip") != status.text_of("hostIP") {
        errors.invalid_text(host.field("ip"), "must be equal to `hostIP`");
    }
    validate_ips(hosts, &old["status"]["hostIPs"], errors);
}

/// `validatePodConditions`.
fn validate_conditions(conditions: FieldPath<'_>, errors: &mut ErrorList) {
    for condition in conditions.items() {
        let generation = condition.field("observedGeneration");
        if generation.number().is_some_and(|number| number < 0) {
            errors.invalid(generation, "must be a non-negative integer");
        }
        let kind = condition.text_of("type");
        if matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            continue;
        }
        // Kubernetes spells the field as Go does.
        let at = condition.field("Type");
        for problem in qualified_name(kind) {
            errors.invalid_value(at, &json!(kind), &problem);
        }
    }
}

fn validate_nominated_node(status: FieldPath<'_>, old: &Value, errors: &mut ErrorList) {
    let at = status.field("nominatedNodeName");
    let before = old["status"]["nominatedNodeName"].as_str();
    if at.text().is_empty() || at.text() == before.unwrap_or_default() {
        return;
    }
    errors.problems(at, subdomain(at.text()));
    let node = old["spec"]["nodeName"].as_str();
    if node.is_some_and(|node| !node.is_empty()) {
        let detail = "may not be set on pods that are already bound to a node";
        errors.forbidden(at, detail);
    }
}

/// Whether a container may restart all of them (`AllContainersCouldRestart`).
fn restarts_all(spec: &Value) -> bool {
    let lists = ["containers", "initContainers"].into_iter();
    let mut containers = lists.flat_map(|list| items(&spec[list]));
    containers.any(|container| {
        items(&container["restartPolicyRules"]).any(|rule| rule["action"] == "RestartAllContainers")
    })
}

/// The field of the status and the field of the spec that list the same containers.
#[derive(Clone, Copy, Debug)]
struct ContainerLists {
    statuses: &'static str,
    containers: &'static str,
}

impl ContainerLists {
    const fn new(statuses: &'static str, containers: &'static str) -> Self {
        Self {
            statuses,
            containers,
        }
    }
}

/// A terminated container that is not restarted stays terminated.
fn validate_terminated(
    status: FieldPath<'_>,
    old: &Value,
    lists: ContainerLists,
    errors: &mut ErrorList,
) {
    let statuses = status.field(lists.statuses);
    let mut new_statuses = BTreeMap::new();
    for entry in statuses.items() {
        new_statuses.entry(entry.text_of("name")).or_insert(entry);
    }
    let mut containers = BTreeMap::new();
    for container in items(&old["spec"][lists.containers]) {
        containers
            .entry(text(&container["name"]))
            .or_insert(container);
    }
    for (index, entry) in items(&old["status"][lists.statuses]).enumerate() {
        let terminated = &entry["state"]["terminated"];
        let name = text(&entry["name"]);
        let Some(new) = new_statuses.get(name).filter(|_| !terminated.is_null()) else {
            continue;
        };
        let is_terminated = new.field("state").has("terminated");
        let code = terminated["exitCode"].as_i64().unwrap_or(0);
        let is_restarted = containers
            .get(name)
            .is_some_and(|container| restarts(&old["spec"], container, code));
        if !is_terminated && !is_restarted {
            let at = statuses.index(index);
            let detail = "may not be transitioned to non-terminated state";
            errors.forbidden(at.field("state"), detail);
        }
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

/// The first restart rule that matches an exit code.
fn rule_of(container: &Value, code: i64) -> Option<&Value> {
    items(&container["restartPolicyRules"]).find(|rule| {
        let codes = &rule["exitCodes"];
        let is_listed = items(&codes["values"]).any(|value| value.as_i64() == Some(code));
        match text(&codes["operator"]) {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        }
    })
}

fn validate_ips(list: FieldPath<'_>, old: &Value, errors: &mut ErrorList) {
    for entry in list.items() {
        // Errors have the path of the entry, not of its address.
        let address = entry.field("ip");
        validate_new_ip(entry.with(address.value()), &known_ips(old), errors);
    }
    let is_v6 = |entry: FieldPath<'_>| entry.text_of("ip").contains(':');
    let (first, second) = (list.index(0), list.index(1));
    let is_pair = list.len() == 2 && is_v6(first) != is_v6(second);
    if list.len() > 1 && !is_pair {
        let detail = "may specify no more than one IP for each IP family";
        // As Go prints the internal type.
        let shown: Vec<Value> = list
            .items()
            .map(|entry| json!({"IP": entry.text_of("ip")}))
            .collect();
        errors.invalid_value(list, &Value::from(shown), detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::core::POD;

    fn pod(policy: &str, state: &Value) -> Value {
        json!({
            "spec": {"restartPolicy": policy, "containers": [{"name": "main"}]},
            "status": {"qosClass": "BestEffort",
                "containerStatuses": [{"name": "main", "state": state}]},
        })
    }

    #[test]
    fn status_write_keeps_the_qos_class_and_observed_generations() {
        let old = json!({
            "metadata": {"ownerReferences": [{"name": "a"}]},
            "status": {"qosClass": "Burstable", "observedGeneration": 2, "conditions": [
                {"type": "Ready", "observedGeneration": 2}, {"type": "Other"}]},
        });
        let mut new = json!({
            "metadata": {"ownerReferences": [{"name": "b"}]},
            "status": {"phase": "Running", "conditions": [
                {"type": "Other"}, {"type": "Ready", "status": "True"},
                {"type": "Ready", "status": "False"}]},
        });
        POD.prepare_status_update(&old, new.as_object_mut().unwrap());
        assert_eq!(
            new,
            json!({
                "metadata": {"ownerReferences": [{"name": "a"}]},
                "status": {"phase": "Running", "qosClass": "Burstable", "observedGeneration": 2,
                    "conditions": [
                        {"type": "Other"},
                        {"type": "Ready", "status": "True", "observedGeneration": 2},
                        {"type": "Ready", "status": "False"}]},
            })
        );
    }

    #[test]
    fn terminated_container_that_is_not_restarted_stays_terminated() {
        let failed = json!({"terminated": {"exitCode": 1}});
        let done = json!({"terminated": {"exitCode": 0}});
        let running = json!({"running": {}});
        let forbidden = "status.containerStatuses[0].state: Forbidden: may not be transitioned to \
                         non-terminated state";
        for (policy, before, is_forbidden) in [
            ("Never", &failed, true),
            ("OnFailure", &failed, false),
            ("OnFailure", &done, true),
            ("Always", &done, false),
        ] {
            let errors = POD.status_errors(&pod(policy, &running), &pod(policy, before));
            let expected: &[&str] = if is_forbidden { &[forbidden] } else { &[] };
            assert_eq!(errors, expected, "{policy}");
        }
    }

    #[test]
    fn qos_class_is_immutable_and_condition_types_are_qualified_names() {
        let old = pod("Always", &json!({}));
        let mut new = old.clone();
        new["status"]["qosClass"] = json!("Guaranteed");
        new["status"]["conditions"] = json!([{"type": "Ready"}, {"type": "a b"}]);
        new["status"]["podIPs"] = json!([{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]);
        let errors = POD.status_errors(&new, &old);
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert!(errors[0].starts_with("status.conditions[1].Type: Invalid value: \"a b\": "));
        assert_eq!(
            errors[1],
            "status.qosClass: Invalid value: \"Guaranteed\": field is immutable"
        );
        assert!(errors[2].starts_with("status.podIPs: Invalid value: "));
    }
}
