//! The defaults of a Service that depend on other fields.

use serde_json::{Map, Value, json};

use crate::json::{items, object_mut, objects_mut, set_absent, text};

const AFFINITY_SECONDS: i64 = 10_800;

/// `SetDefaults_Service`.
pub(super) fn apply_defaults(service: &mut Map<String, Value>) {
    let Some(spec) = object_mut(service, "spec") else {
        return;
    };
    default_spec(spec);
    if spec.get("type") != Some(&json!("LoadBalancer")) {
        return;
    }
    let ingress = object_mut(service, "status")
        .and_then(|status| object_mut(status, "loadBalancer"))
        .and_then(|balancer| balancer.get_mut("ingress"));
    for entry in objects_mut(ingress) {
        if entry.contains_key("ip") {
            set_absent(entry, "ipMode", json!("VIP"));
        }
    }
}

fn default_spec(spec: &mut Map<String, Value>) {
    set_absent(spec, "sessionAffinity", json!("None"));
    set_absent(spec, "type", json!("ClusterIP"));
    match spec.get("sessionAffinity").map_or("", text) {
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
    default_by_type(spec);
}

fn default_by_type(spec: &mut Map<String, Value>) {
    let kind = spec.get("type").map_or("", text).to_owned();
    let has_addresses = spec
        .get("externalIPs")
        .is_some_and(|addresses| items(addresses).next().is_some());
    let is_external = matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && has_addresses;
    if is_external {
        set_absent(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_absent(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set_absent(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::apply_defaults;

    #[test]
    fn target_port_defaults_to_the_port() {
        let mut service =
            json!({"spec": {"ports": [{"port": 80}, {"port": 81, "targetPort": "web"}]}});
        apply_defaults(service.as_object_mut().unwrap());
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
