//! The addresses and node ports of a Service.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use kubewright_wire::status::Cause;
use serde_json::{Map, Value, json};

use crate::json::{is_empty_map, items, object_mut, objects_mut, text};

/// The service range, 10.96.0.0/16. Its first address is that of the API server.
const ADDRESSES: Pool = Pool {
    first: u32::from_be_bytes([10, 96, 0, 2]),
    count: 65_000,
};
/// `--service-node-port-range`.
const NODE_PORTS: Pool = Pool {
    first: 30_000,
    count: 2_768,
};

const IPV4: &str = "IPv4";
const IPV6: &str = "IPv6";

/// Sets the address and the node ports of a new Service, except for those that it names
/// (pkg/registry/core/service/storage/alloc.go), or returns what it cannot have.
///
/// `seed` is where the search for a free address or port starts.
pub fn allocate_address(
    service: &mut Value,
    others: &[&Value],
    seed: u64,
) -> Result<(), Vec<Cause>> {
    let kind = text(&service["spec"]["type"]).to_owned();
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    if kind == "ExternalName" {
        return Ok(());
    }
    let causes = unsupported_families(spec);
    if !causes.is_empty() {
        return Err(causes);
    }
    let named = spec.get("clusterIP").map_or("", text);
    let address = if named.is_empty() {
        let Some(number) = ADDRESSES.free(&used_addresses(others), seed) else {
            return Ok(());
        };
        Ipv4Addr::from(number).to_string()
    } else {
        named.to_owned()
    };
    set_address(spec, &address);
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        allocate_ports(spec, others, seed);
    }
    Ok(())
}

/// Sets the address and the families that follow from it.
fn set_address(spec: &mut Map<String, Value>, address: &str) {
    let is_dual_stack = is_headless_without_selector(spec);
    spec.insert("clusterIP".to_owned(), json!(address));
    spec.entry("clusterIPs").or_insert_with(|| json!([address]));
    let default_policy = if is_dual_stack {
        "RequireDualStack"
    } else {
        "SingleStack"
    };
    let policy = spec
        .entry("ipFamilyPolicy")
        .or_insert_with(|| json!(default_policy));
    let is_single_stack = *policy == "SingleStack";
    let family = if address.contains(':') { IPV6 } else { IPV4 };
    let families = spec.entry("ipFamilies").or_insert_with(|| json!([family]));
    if is_dual_stack
        && !is_single_stack
        && let Some(families) = families.as_array_mut()
        && let [first] = families.as_slice()
    {
        let second = if first == IPV4 { IPV6 } else { IPV4 };
        families.push(json!(second));
    }
}

/// A headless Service without a selector is dual-stack on any cluster: its endpoints may be of
/// either family.
fn is_headless_without_selector(spec: &Map<String, Value>) -> bool {
    let is_headless = spec
        .get("clusterIP")
        .is_some_and(|address| address == "None");
    is_headless && is_empty_map(spec.get("selector"))
}

/// What a single-stack cluster does not support (`initIPFamilyFields`).
fn unsupported_families(spec: &Map<String, Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if is_headless_without_selector(spec) {
        return causes;
    }
    let policy = spec.get("ipFamilyPolicy").unwrap_or(&Value::Null);
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        causes.push(Cause::invalid("spec.ipFamilyPolicy", policy, detail));
    }
    let families = items(spec.get("ipFamilies").unwrap_or(&Value::Null)).enumerate();
    for (index, family) in families.filter(|(_, family)| **family == IPV6) {
        let field = format!("spec.ipFamilies[{index}]");
        let detail = "not configured on this cluster";
        causes.push(Cause::invalid(&field, family, detail));
    }
    causes
}

fn allocate_ports(spec: &mut Map<String, Value>, others: &[&Value], seed: u64) {
    let mut used = used_ports(others);
    for port in objects_mut(spec.get_mut("ports")) {
        let named = port.get("nodePort").and_then(Value::as_u64);
        if named.is_some_and(|number| number > 0) {
            continue;
        }
        if let Some(number) = NODE_PORTS.free(&used, seed) {
            port.insert("nodePort".to_owned(), json!(number));
            used.insert(number);
        }
    }
}

/// An update that names no address does not change it.
pub(super) fn prepare_update(old: &Value, service: &mut Map<String, Value>) {
    let Some(spec) = object_mut(service, "spec") else {
        return;
    };
    let given = |field: &str| spec.get(field).map_or("", text);
    let is_kept = given("clusterIP").is_empty() && given("type") != "ExternalName";
    if !is_kept || text(&old["spec"]["clusterIP"]).is_empty() {
        return;
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let Some(stored) = old["spec"].get(field) {
            spec.insert(field.to_owned(), stored.clone());
        }
    }
}

fn used_addresses(services: &[&Value]) -> BTreeSet<u32> {
    let addresses = services
        .iter()
        .map(|service| text(&service["spec"]["clusterIP"]));
    addresses
        .filter_map(|address| address.parse::<Ipv4Addr>().ok())
        .map(u32::from)
        .collect()
}

fn used_ports(services: &[&Value]) -> BTreeSet<u32> {
    let ports = services
        .iter()
        .flat_map(|service| items(&service["spec"]["ports"]));
    ports
        .filter_map(|port| u32::try_from(port["nodePort"].as_u64()?).ok())
        .collect()
}

/// A range of numbers.
#[derive(Clone, Copy, Debug)]
struct Pool {
    first: u32,
    count: u32,
}

impl Pool {
    /// A number that is not used, if there is one.
    fn free(self, used: &BTreeSet<u32>, seed: u64) -> Option<u32> {
        let start = u32::try_from(seed % u64::from(self.count)).unwrap_or_default();
        let mut candidates = (start..self.count)
            .chain(0..start)
            .map(|offset| self.first + offset);
        candidates.find(|number| !used.contains(number))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{allocate_address, prepare_update};

    fn allocated(spec: Value, others: &[Value]) -> Value {
        let others: Vec<_> = others.iter().map(|spec| json!({"spec": spec})).collect();
        let others: Vec<&Value> = others.iter().collect();
        let mut service = json!({"spec": spec});
        allocate_address(&mut service, &others, 0).unwrap();
        service["spec"].clone()
    }

    #[test]
    fn ipv6_and_dual_stack_are_unsupported() {
        for (spec, field) in [
            (
                json!({"ipFamilyPolicy": "RequireDualStack"}),
                "spec.ipFamilyPolicy",
            ),
            (
                json!({"ipFamilies": ["IPv4", "IPv6"]}),
                "spec.ipFamilies[1]",
            ),
        ] {
            let mut service = json!({"spec": spec});
            let causes = allocate_address(&mut service, &[], 0).unwrap_err();
            assert_eq!(causes[0].field, field);
        }
    }

    #[test]
    fn new_service_gets_an_unused_address() {
        let first = allocated(json!({}), &[]);
        assert_eq!(first["clusterIP"], "10.96.0.2");
        assert_eq!(first["clusterIPs"], json!(["10.96.0.2"]));
        assert_eq!(first["ipFamilies"], json!(["IPv4"]));
        assert_eq!(allocated(json!({}), &[first])["clusterIP"], "10.96.0.3");
        assert_eq!(
            allocated(json!({"clusterIP": "None"}), &[])["clusterIPs"],
            json!(["None"])
        );
        let external = json!({"type": "ExternalName", "externalName": "a"});
        assert_eq!(allocated(external.clone(), &[]), external);
    }

    #[test]
    fn headless_service_without_selector_is_dual_stack() {
        let families = |spec: Value| {
            let spec = allocated(spec, &[]);
            (spec["ipFamilies"].clone(), spec["ipFamilyPolicy"].clone())
        };
        let both = (json!(["IPv4", "IPv6"]), json!("RequireDualStack"));
        let one = (json!(["IPv4"]), json!("SingleStack"));
        assert_eq!(families(json!({"clusterIP": "None"})), both);
        assert_eq!(
            families(json!({"clusterIP": "None", "selector": {"a": "b"}})),
            one
        );
        let single = json!({"clusterIP": "None", "ipFamilyPolicy": "SingleStack"});
        assert_eq!(families(single), one);
        let second = json!({"clusterIP": "None", "ipFamilies": ["IPv6"]});
        assert_eq!(families(second).0, json!(["IPv6", "IPv4"]));
    }

    #[test]
    fn node_port_service_gets_unused_ports() {
        let spec = json!({"type": "NodePort", "ports": [{"port": 1}, {"port": 2, "nodePort": 31000}, {"port": 3}]});
        let ports = allocated(spec.clone(), &[])["ports"].clone();
        let numbers: Vec<_> = [0, 1, 2]
            .map(|index| ports[index]["nodePort"].clone())
            .to_vec();
        assert_eq!(numbers, [json!(30000), json!(31000), json!(30001)]);
    }

    #[test]
    fn update_keeps_the_address() {
        let old = json!({"spec": {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}});
        let mut new = json!({"spec": {"selector": {"a": "b"}}});
        prepare_update(&old, new.as_object_mut().unwrap());
        assert_eq!(new["spec"]["clusterIP"], "10.96.0.9");
    }
}
