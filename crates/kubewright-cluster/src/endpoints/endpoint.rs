use serde_json::{Value, json};

use crate::view::{is_true, items, number, text};
use kubewright_apiserver::store::Object;

/// A family of addresses, as a slice holds one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    /// The first family of a Service.
    pub(super) fn of(service: &Value) -> Self {
        match items(service, "/spec/ipFamilies")
            .first()
            .and_then(Value::as_str)
        {
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

    fn holds(self, address: &str) -> bool {
        address.contains(':') == (self == Self::V6)
    }
}

/// Whether the Pod can be reached, or will be for a while (`ShouldPodBeInEndpoints`).
pub(super) fn is_reachable(pod: &Value) -> bool {
    !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
        && !text(pod, "/status/podIP").is_empty()
}

/// The Pod as an entry of a slice; none when it has no address of the family.
pub(super) fn endpoint(
    pod: &Object,
    service: &Value,
    family: Family,
    zone: Option<&str>,
) -> Option<Value> {
    let value = pod.value();
    let addresses: Vec<_> = items(value, "/status/podIPs")
        .iter()
        .map(|one| text(one, "/ip"))
        .filter(|address| family.holds(address))
        .collect();
    if addresses.is_empty() {
        return None;
    }
    let is_serving = is_true(value, "Ready");
    let is_ending = pod.is_terminating();
    let publishes_all =
        service.pointer("/spec/publishNotReadyAddresses") == Some(&Value::Bool(true));
    let mut endpoint = json!({
        "addresses": addresses,
        "conditions": {
            "ready": publishes_all || is_serving && !is_ending,
            "serving": is_serving,
            "terminating": is_ending,
        },
        "targetRef": {
            "kind": "Pod",
            "name": pod.name(),
            "namespace": pod.namespace(),
            "uid": pod.uid(),
        },
    });
    match text(value, "/spec/nodeName") {
        "" => {}
        node => endpoint["nodeName"] = node.into(),
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

/// The ports under which the Pod serves the Service; a name that the Pod does not know is left
/// out.
pub(super) fn ports(pod: &Value, service: &Value) -> Vec<Value> {
    let ports = items(service, "/spec/ports").iter();
    let port = |port: &Value| {
        let number = target(pod, port)?;
        let protocol = protocol(port);
        let mut found = json!({
            "name": text(port, "/name"),
            "port": number,
            "protocol": protocol,
        });
        if let Some(application) = port.get("appProtocol") {
            found["appProtocol"] = application.clone();
        }
        Some(found)
    };
    ports.filter_map(port).collect()
}

fn protocol(port: &Value) -> &str {
    match text(port, "/protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

/// The number behind `targetPort`: itself, that of a container's port of that name, or the
/// Service's own.
fn target(pod: &Value, port: &Value) -> Option<i64> {
    let Some(name) = port.get("targetPort").and_then(Value::as_str) else {
        let own = number(port, "/targetPort").filter(|number| *number != 0);
        return own.or_else(|| number(port, "/port"));
    };
    let is_sidecar = |one: &&Value| text(one, "/restartPolicy") == "Always";
    let sidecars = items(pod, "/spec/initContainers").iter().filter(is_sidecar);
    let containers = items(pod, "/spec/containers").iter().chain(sidecars);
    let mut named = containers.flat_map(|container| items(container, "/ports"));
    let found = named.find(|one| text(one, "/name") == name && protocol(one) == protocol(port))?;
    number(found, "/containerPort")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ports;

    #[test]
    fn a_port_is_named_numbered_or_the_same() {
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
