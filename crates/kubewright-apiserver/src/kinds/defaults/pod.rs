use std::collections::BTreeMap;

use kubewright_wire::schema::Quantity;
use serde_json::{Map, Value, json};

use super::container::{fill_containers, object_mut, objects_mut, set_absent};

/// What is filled into the specification of a Pod, wherever it stands.
pub(super) fn fill_spec(spec: &mut Map<String, Value>) {
    fill_containers(spec);
    for list in ["initContainers", "containers"] {
        for container in objects_mut(spec.get_mut(list)) {
            if let Some(resources) = object_mut(container, "resources") {
                round_up(resources, &["limits", "requests"]);
            }
        }
    }
    round_up(spec, &["overhead"]);
    if let Some(resources) = object_mut(spec, "resources") {
        round_up(resources, &["limits", "requests"]);
    }
}

/// `serviceAccount` is another name of `serviceAccountName` (`Convert_v1_PodSpec_To_core_PodSpec`).
pub(super) fn settle_aliases(spec: &mut Map<String, Value>) {
    let name = |spec: &Map<String, Value>, field: &str| {
        spec.get(field)
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let account = name(spec, "serviceAccountName").or_else(|| name(spec, "serviceAccount"));
    if let Some(account) = account {
        spec.insert("serviceAccount".to_owned(), json!(account));
        spec.insert("serviceAccountName".to_owned(), json!(account));
    }
}

/// What is filled into a Pod and not into a template of one (`SetDefaults_Pod`).
pub(super) fn fill_pod(pod: &mut Map<String, Value>) {
    if let Some(status) = object_mut(pod, "status") {
        settle_addresses(status);
    }
    let Some(spec) = object_mut(pod, "spec") else {
        return;
    };
    let is_on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        for container in objects_mut(spec.get_mut(list)) {
            if let Some(resources) = object_mut(container, "resources") {
                request_limits(resources);
            }
            if is_on_host {
                take_host_ports(container);
            }
        }
    }
    fill_pod_resources(spec);
    set_absent(spec, "enableServiceLinks", json!(true));
    let grace = spec.get("terminationGracePeriodSeconds");
    if grace.and_then(Value::as_i64).is_some_and(|grace| grace < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
}

/// `podIP` is the first of `podIPs`, and rules where they differ
/// (`Convert_v1_PodStatus_To_core_PodStatus`).
fn settle_addresses(status: &mut Map<String, Value>) {
    let is_some = |address: &&Value| **address != json!("");
    let one = status.get("podIP").filter(is_some).cloned();
    let first = status.get("podIPs").and_then(|list| list.get(0));
    let first = first.and_then(|first| first.get("ip"));
    let first = first.filter(is_some).cloned();
    match (one, first) {
        (Some(one), first) if first.as_ref() != Some(&one) => {
            status.insert("podIPs".to_owned(), json!([{"ip": one}]));
        }
        (None, Some(first)) => {
            status.insert("podIP".to_owned(), first);
        }
        _ => {}
    }
}

/// Who limits an amount and requests none of it requests as much.
fn request_limits(resources: &mut Map<String, Value>) {
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

/// In the network of the host a port is the host's port.
fn take_host_ports(container: &mut Map<String, Value>) {
    for port in objects_mut(container.get_mut("ports")) {
        let is_unset = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0) == 0;
        let own = port.get("containerPort").cloned();
        if is_unset(port.get("hostPort")) && !is_unset(own.as_ref()) {
            port.insert("hostPort".to_owned(), own.unwrap_or_default());
        }
    }
}

/// Amounts of a whole Pod: what it limits and does not request is what its containers request
/// together, or else the limit (`defaultPodRequests`).
fn fill_pod_resources(spec: &mut Map<String, Value>) {
    let together = sum_of_requests(spec);
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
    for (name, amount) in together {
        if matches!(name.as_str(), "cpu" | "memory") && !requests.contains_key(&name) {
            requests.insert(name, json!(amount.to_string()));
        }
    }
    for (name, amount) in limits {
        let is_of_pods =
            matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-");
        if is_of_pods && !requests.contains_key(&name) {
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

/// Amounts are counted in thousandths (`SetDefaults_ResourceList`).
pub(super) fn round_up(holder: &mut Map<String, Value>, lists: &[&str]) {
    for list in lists {
        let amounts = holder.get_mut(*list).and_then(Value::as_object_mut);
        for amount in amounts.into_iter().flat_map(|amounts| amounts.values_mut()) {
            let Some(text) = amount.as_str() else {
                continue;
            };
            if !text.ends_with(['n', 'u']) {
                continue;
            }
            if let Some(rounded) = Quantity::parse(text).map(Quantity::round_up_to_milli) {
                *amount = json!(rounded.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill_pod, round_up, settle_aliases};

    #[test]
    fn limits_are_requested_in_a_pod() {
        let mut pod = json!({"spec": {
            "hostNetwork": true,
            "containers": [{
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "2"}},
                "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 9}],
            }],
        }});
        fill_pod(pod.as_object_mut().unwrap());
        let container = &pod["spec"]["containers"][0];
        assert_eq!(
            container["resources"]["requests"],
            json!({"cpu": "2", "memory": "1Gi"})
        );
        assert_eq!(container["ports"][0]["hostPort"], 80);
        assert_eq!(container["ports"][1]["hostPort"], 9);
    }

    #[test]
    fn an_account_has_two_names() {
        let mut spec = json!({"serviceAccount": "a"});
        settle_aliases(spec.as_object_mut().unwrap());
        assert_eq!(spec["serviceAccountName"], "a");
    }

    #[test]
    fn small_amounts_become_a_thousandth() {
        let mut resources = json!({"limits": {"cpu": "100u", "memory": "1"}});
        round_up(resources.as_object_mut().unwrap(), &["limits"]);
        assert_eq!(resources["limits"], json!({"cpu": "1m", "memory": "1"}));
    }
}
