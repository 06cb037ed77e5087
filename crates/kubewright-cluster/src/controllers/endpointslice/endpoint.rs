//! One Pod as an endpoint of a Service: its addresses, conditions and ports.

use kubewright_apiserver::store::Object;
use kubewright_kinds::core;
use serde_json::{Value, json};

use crate::framework::{has_ended, is_true, items, node_name, number, text};

/// The family of the addresses of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressFamily {
    V4,
    V6,
}

impl AddressFamily {
    /// The first family of a Service.
    pub(super) fn of(service: &Value) -> Self {
        let first = items(service, "/spec/ipFamilies").first();
        match first.and_then(Value::as_str) {
            Some("IPv6") => Self::V6,
            _ => Self::V4,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    fn contains(self, address: &str) -> bool {
        address.contains(':') == (self == Self::V6)
    }
}

/// Whether the Pod has an address and has not ended (`ShouldPodBeInEndpoints` of
/// k8s.io/endpointslice).
pub(super) fn should_be_in_endpoints(pod: &Value) -> bool {
    !has_ended(pod) && !text(pod, "/status/podIP").is_empty()
}

/// The endpoint of a Pod; `None` when it has no address of the family.
pub(super) fn endpoint(
    pod: &Object,
    service: &Value,
    family: AddressFamily,
    zone: Option<&str>,
) -> Option<Value> {
    let value = pod.value();
    let addresses: Vec<_> = items(value, "/status/podIPs")
        .iter()
        .map(|entry| text(entry, "/ip"))
        .filter(|address| family.contains(address))
        .collect();
    if addresses.is_empty() {
        return None;
    }
    let is_serving = is_true(value, "Ready");
    let is_terminating = pod.is_terminating();
    let publishes_all =
        service.pointer("/spec/publishNotReadyAddresses") == Some(&Value::Bool(true));
    let mut endpoint = json!({
        "addresses": addresses,
        "conditions": {
            "ready": publishes_all || is_serving && !is_terminating,
            "serving": is_serving,
            "terminating": is_terminating,
        },
        "targetRef": {
            "kind": core::POD.kind,
            "name": pod.name(),
            "namespace": pod.namespace(),
            "uid": pod.uid(),
        },
    });
    let node = node_name(value);
    if !node.is_empty() {
        endpoint["nodeName"] = node.into();
    }
    if let Some(zone) = zone {
        endpoint["zone"] = zone.into();
    }
    let hostname = text(value, "/spec/hostname");
    let subdomain = text(value, "/spec/subdomain");
    if !hostname.is_empty() && subdomain == text(service, "/metadata/name") {
        endpoint["hostname"] = hostname.into();
    }
    Some(endpoint)
}

/// The ports of the Service on the Pod. A named target port that the Pod does not have is omitted.
pub(super) fn ports(pod: &Value, service: &Value) -> Vec<Value> {
    let on_pod = |port: &Value| {
        let mut found = json!({
            "name": text(port, "/name"),
            "port": target_port(pod, port)?,
            "protocol": protocol(port),
        });
        if let Some(application) = port.get("appProtocol") {
            found["appProtocol"] = application.clone();
        }
        Some(found)
    };
    let ports = items(service, "/spec/ports").iter();
    ports.filter_map(on_pod).collect()
}

fn protocol(port: &Value) -> &str {
    match text(port, "/protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

/// The number of `targetPort`: itself, that of the container port with its name, or `port` when it
/// is absent (`FindPort` of k8s.io/endpointslice).
fn target_port(pod: &Value, port: &Value) -> Option<i64> {
    let Some(name) = port.get("targetPort").and_then(Value::as_str) else {
        let target = number(port, "/targetPort").filter(|number| *number != 0);
        return target.or_else(|| number(port, "/port"));
    };
    let is_sidecar = |container: &&Value| text(container, "/restartPolicy") == "Always";
    let sidecars = items(pod, "/spec/initContainers").iter().filter(is_sidecar);
    let containers = items(pod, "/spec/containers").iter().chain(sidecars);
    let mut declared = containers.flat_map(|container| items(container, "/ports"));
    let found = declared
        .find(|declared| text(declared, "/name") == name && protocol(declared) == protocol(port))?;
    number(found, "/containerPort")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ports;

    #[test]
    fn target_port_is_a_number_a_name_or_the_service_port() {
        let pod =
            json!({"spec": {"containers": [{"ports": [{"name": "web", "containerPort": 8080}]}]}});
        let numbers = |port: Value| -> Vec<Value> {
            let found = ports(&pod, &json!({"spec": {"ports": [port]}}));
            found.iter().map(|port| port["port"].clone()).collect()
        };
        assert_eq!(numbers(json!({"port": 80})), [json!(80)]);
        assert_eq!(numbers(json!({"port": 80, "targetPort": 81})), [json!(81)]);
        assert_eq!(
            numbers(json!({"port": 80, "targetPort": "web"})),
            [json!(8080)]
        );
        assert_eq!(
            numbers(json!({"port": 80, "targetPort": "db"})),
            [Value::Null; 0]
        );
        let udp = json!({"port": 80, "targetPort": "web", "protocol": "UDP"});
        assert_eq!(numbers(udp), [Value::Null; 0]);
    }
}
