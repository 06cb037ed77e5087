//! Endpoints of the Services that webhook configurations name.

use std::net::IpAddr;

use serde_json::Value;

use crate::store::{Key, Store};

const SLICES: &str = "endpointslices.discovery.k8s.io";
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// A host and a port.
pub(super) type Endpoint = (String, u16);

/// Names a Service.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceReference<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// The endpoints of a Service that this process can reach. Errors are worded as Kubernetes words them
/// (`k8s.io/apiserver/pkg/util/proxy`).
///
/// Kubernetes goes to the Service's own address, which leads to its Pods. There is no such network
/// here: an endpoint on loopback is a program on this machine, and all others are only objects.
pub(super) fn endpoints(
    store: &Store,
    service: ServiceReference<'_>,
    port: u64,
) -> Result<Vec<Endpoint>, String> {
    let ServiceReference { namespace, name } = service;
    let snapshot = store.snapshot();
    let key = Key::new("services", Some(namespace), name);
    let Some(service) = snapshot.get(&key) else {
        return Err(format!("service {name:?} not found"));
    };
    let slices = snapshot.list(SLICES, Some(namespace));
    let slices = slices.filter(|slice| slice.label(SERVICE_NAME) == Some(name));
    resolve(service.value(), slices.map(|slice| slice.value()), port)
}

fn resolve<'a>(
    service: &Value,
    slices: impl Iterator<Item = &'a Value>,
    port: u64,
) -> Result<Vec<Endpoint>, String> {
    let (name, spec) = (text(&service["metadata"]["name"]), &service["spec"]);
    match text(&spec["type"]) {
        "ExternalName" => {
            let port = u16::try_from(port).unwrap_or_default();
            return Ok(vec![(text(&spec["externalName"]).to_owned(), port)]);
        }
        "" | "ClusterIP" if spec["clusterIP"] == "None" => {
            return Err("cannot route to service with ClusterIP \"None\"".to_owned());
        }
        "" | "ClusterIP" | "LoadBalancer" | "NodePort" => {}
        other => return Err(format!("unsupported service type {other:?}")),
    }
    let mut ports = items(&spec["ports"]);
    let Some(found) = ports.find(|one| one["port"].as_u64() == Some(port)) else {
        return Err(format!("no service port {port} found for service {name:?}"));
    };
    let all: Vec<Endpoint> = slices
        .flat_map(|slice| ready(slice, text(&found["name"])))
        .collect();
    if all.is_empty() {
        return Err(format!("no endpoints available for service {name:?}"));
    }
    let near: Vec<Endpoint> = all.into_iter().filter(is_near).collect();
    if near.is_empty() {
        return Err(format!(
            "the endpoints of service {name:?} are only objects in an embedded cluster: serve the \
             webhook in this process, or give the service an EndpointSlice on loopback"
        ));
    }
    Ok(near)
}

/// The endpoints of a slice that are ready, at the port of that name.
fn ready(slice: &Value, port_name: &str) -> Vec<Endpoint> {
    let mut ports = items(&slice["ports"]).filter(|one| text(&one["name"]) == port_name);
    let number = ports.find_map(|one| u16::try_from(one["port"].as_u64()?).ok());
    let Some(number) = number else {
        return Vec::new();
    };
    items(&slice["endpoints"])
        .filter(|one| one["conditions"]["ready"] != false)
        .filter_map(|one| one["addresses"][0].as_str())
        .map(|address| (address.to_owned(), number))
        .collect()
}

fn is_near((address, _): &Endpoint) -> bool {
    address
        .parse()
        .is_ok_and(|address: IpAddr| address.is_loopback())
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
            Ok(vec![
                ("127.0.0.1".to_owned(), 9443),
                ("::1".to_owned(), 9444)
            ])
        );
    }

    #[test]
    fn a_service_that_leads_nowhere_says_why() {
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
                "the endpoints of service \"guard\" are only objects in an embedded cluster: serve \
                 the webhook in this process, or give the service an EndpointSlice on loopback",
            ),
        ] {
            assert_eq!(resolved(spec, &slices), Err(why.to_owned()));
        }
    }

    #[test]
    fn an_external_name_is_the_host() {
        let spec = json!({"type": "ExternalName", "externalName": "localhost"});
        assert_eq!(resolved(spec, &[]), Ok(vec![("localhost".to_owned(), 443)]));
    }
}
