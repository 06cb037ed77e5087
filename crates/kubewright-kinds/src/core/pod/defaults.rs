//! The defaults of a Pod that a template does not have (`SetDefaults_Pod`).

use std::collections::BTreeMap;

use kubewright_core::Quantity;
use serde_json::{Map, Value, json};

use crate::json::{object_mut, objects_mut, set_absent};

pub(super) fn apply_defaults(pod: &mut Map<String, Value>) {
    if let Some(status) = object_mut(pod, "status") {
        sync_pod_ip(status);
    }
    let Some(spec) = object_mut(pod, "spec") else {
        return;
    };
    let is_on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        for container in objects_mut(spec.get_mut(list)) {
            if let Some(resources) = object_mut(container, "resources") {
                default_requests(resources);
            }
            if is_on_host {
                default_host_ports(container);
            }
        }
    }
    default_pod_requests(spec);
    set_absent(spec, "enableServiceLinks", json!(true));
    let grace = spec.get("terminationGracePeriodSeconds");
    if grace.and_then(Value::as_i64).is_some_and(|grace| grace < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
}

/// `podIP` is the first of `podIPs`, and overrides the list when they differ
/// (`Convert_v1_PodStatus_To_core_PodStatus`).
fn sync_pod_ip(status: &mut Map<String, Value>) {
    let is_given = |address: &&Value| **address != json!("");
    let single = status.get("podIP").filter(is_given).cloned();
    let first = status
        .get("podIPs")
        .and_then(|list| list.get(0)?.get("ip"))
        .filter(is_given)
        .cloned();
    match (single, first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            status.insert("podIPs".to_owned(), json!([{"ip": single}]));
        }
        (None, Some(first)) => {
            status.insert("podIP".to_owned(), first);
        }
        _ => {}
    }
}

/// A limit without a request is the request, too.
fn default_requests(resources: &mut Map<String, Value>) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    let requests = resources.entry("requests").or_insert_with(|| json!({}));
    let Some(requests) = requests.as_object_mut() else {
        return;
    };
    for (name, amount) in limits {
        requests.entry(name).or_insert(amount);
    }
}

/// In the network of the host, `hostPort` equals `containerPort`.
fn default_host_ports(container: &mut Map<String, Value>) {
    for port in objects_mut(container.get_mut("ports")) {
        let is_unset = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0) == 0;
        let own = port.get("containerPort").cloned();
        if is_unset(port.get("hostPort")) && !is_unset(own.as_ref()) {
            port.insert("hostPort".to_owned(), own.unwrap_or_default());
        }
    }
}

/// The requests of a whole Pod are those of its containers, or else its limits
/// (`defaultPodRequests`).
fn default_pod_requests(spec: &mut Map<String, Value>) {
    let containers = sum_of_requests(spec);
    let Some(resources) = object_mut(spec, "resources") else {
        return;
    };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    let mut requests = match resources.get("requests") {
        Some(Value::Object(requests)) => requests.clone(),
        _ => Map::new(),
    };
    for (name, amount) in containers {
        if matches!(name.as_str(), "cpu" | "memory") && !requests.contains_key(&name) {
            requests.insert(name, json!(amount.to_string()));
        }
    }
    for (name, amount) in limits {
        let is_pod_level =
            matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-");
        if is_pod_level && !requests.contains_key(&name) {
            requests.insert(name, amount);
        }
    }
    if !requests.is_empty() {
        resources.insert("requests".to_owned(), Value::Object(requests));
    }
}

fn sum_of_requests(spec: &Map<String, Value>) -> BTreeMap<String, Quantity> {
    let mut sum: BTreeMap<String, Quantity> = BTreeMap::new();
    let containers = spec.get("containers").and_then(Value::as_array);
    for container in containers.into_iter().flatten() {
        let requests = container.pointer("/resources/requests");
        for (name, amount) in requests.and_then(Value::as_object).into_iter().flatten() {
            let Some(amount) = amount.as_str().and_then(Quantity::parse) else {
                continue;
            };
            match sum.get_mut(name) {
                Some(total) => *total = total.plus(amount),
                None => drop(sum.insert(name.clone(), amount)),
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::apply_defaults;

    #[test]
    fn limits_are_the_default_requests() {
        let mut pod = json!({"spec": {
            "hostNetwork": true,
            "containers": [{
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "2"}},
                "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 9}],
            }],
        }});
        apply_defaults(pod.as_object_mut().unwrap());
        let container = &pod["spec"]["containers"][0];
        assert_eq!(
            container["resources"]["requests"],
            json!({"cpu": "2", "memory": "1Gi"})
        );
        assert_eq!(container["ports"][0]["hostPort"], 80);
        assert_eq!(container["ports"][1]["hostPort"], 9);
    }
}
