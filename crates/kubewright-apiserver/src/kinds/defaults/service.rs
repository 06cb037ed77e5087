use serde_json::{Map, Value, json};

use super::container::{object_mut, objects_mut, set_absent};

const AFFINITY_SECONDS: i64 = 10_800;

/// `SetDefaults_Service`.
pub(super) fn fill(service: &mut Map<String, Value>) {
    let mut is_balanced = false;
    if let Some(spec) = object_mut(service, "spec") {
        fill_spec(spec);
        is_balanced = text(spec, "type") == "LoadBalancer";
    }
    if !is_balanced {
        return;
    }
    let ingress = object_mut(service, "status")
        .and_then(|status| object_mut(status, "loadBalancer"))
        .and_then(|balancer| balancer.get_mut("ingress"));
    for point in objects_mut(ingress) {
        if point.contains_key("ip") {
            set_absent(point, "ipMode", json!("VIP"));
        }
    }
}

fn fill_spec(spec: &mut Map<String, Value>) {
    set_absent(spec, "sessionAffinity", json!("None"));
    set_absent(spec, "type", json!("ClusterIP"));
    match text(spec, "sessionAffinity").as_str() {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let config = spec.get("sessionAffinityConfig");
            let seconds = config.and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
            if seconds.is_none_or(Value::is_null) {
                let config = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
                spec.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
    for port in objects_mut(spec.get_mut("ports")) {
        set_absent(port, "protocol", json!("TCP"));
        let target = port.get("targetPort");
        let is_unset = target.is_none_or(|target| *target == json!(0) || *target == json!(""));
        if is_unset {
            let own = port.get("port").cloned().unwrap_or_else(|| json!(0));
            port.insert("targetPort".to_owned(), own);
        }
    }
    let kind = text(spec, "type");
    let has_addresses = spec
        .get("externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|addresses| !addresses.is_empty());
    let is_outward = matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && has_addresses;
    if is_outward {
        set_absent(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_absent(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set_absent(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}

fn text(holder: &Map<String, Value>, name: &str) -> String {
    let text = holder.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fill;

    #[test]
    fn a_port_leads_to_the_port_of_the_same_number() {
        let mut service =
            json!({"spec": {"ports": [{"port": 80}, {"port": 81, "targetPort": "web"}]}});
        fill(service.as_object_mut().unwrap());
        let ports = &service["spec"]["ports"];
        assert_eq!(
            ports[0],
            json!({"port": 80, "targetPort": 80, "protocol": "TCP"})
        );
        assert_eq!(ports[1]["targetPort"], "web");
        assert_eq!(service["spec"]["internalTrafficPolicy"], "Cluster");
        assert!(service["spec"].get("externalTrafficPolicy").is_none());
    }
}
