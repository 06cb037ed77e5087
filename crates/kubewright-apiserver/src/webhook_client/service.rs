//! Endpoints of the Services that webhook configurations name.

use std::net::IpAddr;

use kubewright_kinds::core::SERVICE;
use kubewright_kinds::discovery::ENDPOINT_SLICE;
use kubewright_kinds::json::{items, text};
use serde_json::Value;

use crate::store::{Key, Store};

const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// An address of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) host: String,
    pub(super) port: u16,
}

/// Names a Service.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceReference<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// The endpoints of a Service that this process can reach. Error messages are those of Kubernetes
/// (`k8s.io/apiserver/pkg/util/proxy`).
///
/// Kubernetes connects to the address of the Service, which is routed to its Pods. An embedded
/// cluster has no such network: an endpoint on loopback is a program on this machine, and nothing
/// runs behind all others.
pub(super) fn endpoints(
    store: &Store,
    service: ServiceReference<'_>,
    port: u64,
) -> Result<Vec<Endpoint>, String> {
    let ServiceReference { namespace, name } = service;
    let snapshot = store.snapshot();
    let key = Key::new(SERVICE.resource_id(), Some(namespace), name);
    let Some(service) = snapshot.get(&key) else {
        return Err(format!("service {name:?} not found"));
    };
    let slices = snapshot
        .list(ENDPOINT_SLICE.resource_id(), Some(namespace))
        .filter(|slice| slice.label(SERVICE_NAME) == Some(name))
        .map(|slice| slice.value());
    resolve(service.value(), slices, port)
}

fn resolve<'a>(
    service: &Value,
    slices: impl Iterator<Item = &'a Value>,
    port: u64,
) -> Result<Vec<Endpoint>, String> {
    let (name, spec) = (text(&service["metadata"]["name"]), &service["spec"]);
    match text(&spec["type"]) {
        "ExternalName" => {
            return Ok(vec![Endpoint {
                host: text(&spec["externalName"]).to_owned(),
                port: u16::try_from(port).unwrap_or_default(),
            }]);
        }
        "" | "ClusterIP" if spec["clusterIP"] == "None" => {
            return Err("cannot route to service with ClusterIP \"None\"".to_owned());
        }
        "" | "ClusterIP" | "LoadBalancer" | "NodePort" => {}
        other => return Err(format!("unsupported service type {other:?}")),
    }
    let mut service_ports = items(&spec["ports"]);
    let Some(service_port) = service_ports.find(|known| known["port"].as_u64() == Some(port))
    else {
        return Err(format!("no service port {port} found for service {name:?}"));
    };
    let ready: Vec<Endpoint> = slices
        .flat_map(|slice| ready_endpoints(slice, text(&service_port["name"])))
        .collect();
    if ready.is_empty() {
        return Err(format!("no endpoints available for service {name:?}"));
    }
    let reachable: Vec<Endpoint> = ready.into_iter().filter(Endpoint::is_reachable).collect();
    if reachable.is_empty() {
        return Err(format!(
            "nothing runs behind the endpoints of service {name:?} in an embedded cluster: serve \
             the webhook in this process, or give the service an EndpointSlice on loopback"
        ));
    }
    Ok(reachable)
}

/// The ready endpoints of a slice, at the port of that name.
fn ready_endpoints(slice: &Value, port_name: &str) -> Vec<Endpoint> {
    let Some(port) = items(&slice["ports"])
        .filter(|port| text(&port["name"]) == port_name)
        .find_map(|port| u16::try_from(port["port"].as_u64()?).ok())
    else {
        return Vec::new();
    };
    items(&slice["endpoints"])
        .filter(|endpoint| endpoint["conditions"]["ready"] != false)
        .filter_map(|endpoint| endpoint["addresses"][0].as_str())
        .map(|address| Endpoint {
            host: address.to_owned(),
            port,
        })
        .collect()
}

impl Endpoint {
    fn is_reachable(&self) -> bool {
        let address = self.host.parse();
        address.is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Endpoint, resolve};

    fn service(spec: Value) -> Value {
        json!({"metadata": {"name": "guard"}, "spec": spec})
    }

    fn slice(port: Value, endpoints: Value) -> Value {
        json!({"ports": [port], "endpoints": endpoints})
    }

    fn endpoint(host: &str, port: u16) -> Endpoint {
        Endpoint {
            host: host.to_owned(),
            port,
        }
    }

    fn resolved(spec: Value, slices: &[Value]) -> Result<Vec<Endpoint>, String> {
        resolve(&service(spec), slices.iter(), 443)
    }

    #[test]
    fn ready_endpoints_on_loopback_are_reached_at_the_port_of_that_name() {
        let spec =
            json!({"ports": [{"name": "metrics", "port": 80}, {"name": "web", "port": 443}]});
        let slices = [
            slice(
                json!({"name": "web", "port": 9443}),
                json!([
                    {"addresses": ["127.0.0.1"]},
                    {"addresses": ["127.0.0.2"], "conditions": {"ready": false}},
                    {"addresses": ["10.0.0.1"], "conditions": {"ready": true}},
                ]),
            ),
            slice(
                json!({"name": "metrics", "port": 8080}),
                json!([{"addresses": ["127.0.0.3"]}]),
            ),
            slice(
                json!({"name": "web", "port": 9444}),
                json!([{"addresses": ["::1"], "conditions": {"ready": true}}]),
            ),
        ];
        assert_eq!(
            resolved(spec, &slices),
            Ok(vec![endpoint("127.0.0.1", 9443), endpoint("::1", 9444)])
        );
    }

    #[test]
    fn service_without_reachable_endpoints_fails_with_the_reason() {
        let port = json!([{"port": 443}]);
        let pod = slice(json!({"port": 9443}), json!([{"addresses": ["10.0.0.1"]}]));
        for (spec, slices, why) in [
            (
                json!({"ports": [{"port": 80}]}),
                vec![],
                "no service port 443 found for service \"guard\"",
            ),
            (
                json!({"ports": port}),
                vec![],
                "no endpoints available for service \"guard\"",
            ),
            (
                json!({"ports": port, "clusterIP": "None"}),
                vec![],
                "cannot route to service with ClusterIP \"None\"",
            ),
            (
                json!({"ports": port}),
                vec![pod],
                "nothing runs behind the endpoints of service \"guard\" in an embedded cluster: \
                 serve the webhook in this process, or give the service an EndpointSlice on \
                 loopback",
            ),
        ] {
            assert_eq!(resolved(spec, &slices), Err(why.to_owned()));
        }
    }

    #[test]
    fn external_name_is_the_host() {
        let spec = json!({"type": "ExternalName", "externalName": "localhost"});
        assert_eq!(resolved(spec, &[]), Ok(vec![endpoint("localhost", 443)]));
    }
}
