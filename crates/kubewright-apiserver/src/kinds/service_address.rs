use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;

use kubewright_wire::status::Cause;
use serde_json::{Map, Value, json};

use crate::store::Object;

/// Where addresses of Services are taken from: 10.96.0.0/16. The first is that of the API server.
const FIRST: u32 = u32::from_be_bytes([10, 96, 0, 2]);
const ADDRESSES: u32 = 65_000;
/// Where ports on nodes are taken from (`--service-node-port-range`).
const FIRST_PORT: u32 = 30_000;
const PORTS: u32 = 2_768;

const IPV4: &str = "IPv4";
const IPV6: &str = "IPv6";

/// Gives a new Service its address and its ports on nodes, unless it names them
/// (pkg/registry/core/service/storage/alloc.go), or says what it cannot have. `chance` decides
/// where to look first.
pub(crate) fn allocate_address(
    service: &mut Value,
    others: &[Arc<Object>],
    chance: u64,
) -> Result<(), Vec<Cause>> {
    let kind = text(service, "type").to_owned();
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    if kind == "ExternalName" {
        return Ok(());
    }
    let causes = unknown_families(spec);
    if !causes.is_empty() {
        return Err(causes);
    }
    let given = spec.get("clusterIP").and_then(Value::as_str);
    let address = match given {
        Some(given) if !given.is_empty() => given.to_owned(),
        _ => match free(&taken_addresses(others), (FIRST, ADDRESSES), chance) {
            Some(number) => Ipv4Addr::from(number).to_string(),
            None => return Ok(()),
        },
    };
    let is_of_both = is_of_both(spec);
    spec.insert("clusterIP".to_owned(), json!(address));
    spec.entry("clusterIPs").or_insert_with(|| json!([address]));
    let policy = match is_of_both {
        true => "RequireDualStack",
        false => "SingleStack",
    };
    let policy = spec
        .entry("ipFamilyPolicy")
        .or_insert_with(|| json!(policy));
    let wants_one = *policy == "SingleStack";
    let family = if address.contains(':') { IPV6 } else { IPV4 };
    let families = spec.entry("ipFamilies").or_insert_with(|| json!([family]));
    if let (true, false, Value::Array(families)) = (is_of_both, wants_one, families)
        && let [one] = families.as_slice()
    {
        let other = if one == IPV4 { IPV6 } else { IPV4 };
        families.push(json!(other));
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        allocate_ports(spec, others, chance);
    }
    Ok(())
}

/// What has no address and selects nothing may have endpoints of both families on any cluster.
fn is_of_both(spec: &Map<String, Value>) -> bool {
    let selector = spec.get("selector").and_then(Value::as_object);
    let is_headless = spec
        .get("clusterIP")
        .is_some_and(|address| address == "None");
    is_headless && selector.is_none_or(Map::is_empty)
}

/// What a cluster of one family cannot give (`initIPFamilyFields`).
fn unknown_families(spec: &Map<String, Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if is_of_both(spec) {
        return causes;
    }
    let families = spec.get("ipFamilies").and_then(Value::as_array);
    let families: Vec<&Value> = families.into_iter().flatten().collect();
    let policy = spec.get("ipFamilyPolicy").unwrap_or(&Value::Null);
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        causes.push(Cause::invalid("spec.ipFamilyPolicy", policy, detail));
    }
    for (index, family) in families.iter().enumerate().filter(|(_, one)| **one == IPV6) {
        let field = format!("spec.ipFamilies[{index}]");
        causes.push(Cause::invalid(
            &field,
            family,
            "not configured on this cluster",
        ));
    }
    causes
}

fn allocate_ports(spec: &mut Map<String, Value>, others: &[Arc<Object>], chance: u64) {
    let mut taken = taken_ports(others);
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        if port["nodePort"].as_u64().is_some_and(|number| number > 0) {
            continue;
        }
        if let Some(number) = free(&taken, (FIRST_PORT, PORTS), chance) {
            port["nodePort"] = number.into();
            taken.insert(number);
        }
    }
}

/// A Service that is replaced keeps the address that it does not name.
pub(crate) fn keep_address(old: &Object, new: &mut Value) {
    let names = |value: &Value| !text(value, "clusterIP").is_empty();
    if !names(old.value()) || names(new) || text(new, "type") == "ExternalName" {
        return;
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        let kept = old.value().pointer(&format!("/spec/{field}"));
        if let (Some(kept), Some(spec)) = (kept, new.get_mut("spec").and_then(Value::as_object_mut))
        {
            spec.insert(field.to_owned(), kept.clone());
        }
    }
}

fn text<'a>(service: &'a Value, field: &str) -> &'a str {
    let found = service.get("spec").and_then(|spec| spec.get(field));
    found.and_then(Value::as_str).unwrap_or_default()
}

fn taken_addresses(services: &[Arc<Object>]) -> BTreeSet<u32> {
    let address = |service: &Arc<Object>| {
        let address: Ipv4Addr = text(service.value(), "clusterIP").parse().ok()?;
        Some(u32::from(address))
    };
    services.iter().filter_map(address).collect()
}

fn taken_ports(services: &[Arc<Object>]) -> BTreeSet<u32> {
    let ports = services
        .iter()
        .filter_map(|service| service.value().pointer("/spec/ports")?.as_array());
    let numbers = ports.flatten().filter_map(|port| port["nodePort"].as_u64());
    numbers
        .filter_map(|number| u32::try_from(number).ok())
        .collect()
}

/// A number of the range that is not taken; none when all are.
fn free(taken: &BTreeSet<u32>, (first, count): (u32, u32), chance: u64) -> Option<u32> {
    let start = u32::try_from(chance % u64::from(count)).unwrap_or_default();
    let mut candidates = (start..count).chain(0..start).map(|offset| first + offset);
    candidates.find(|number| !taken.contains(number))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{allocate_address, keep_address};
    use crate::store::Object;

    fn allocated(spec: Value, others: &[Value]) -> Value {
        let others: Vec<_> = others
            .iter()
            .map(|spec| Arc::new(Object::new(json!({"spec": spec}), Revision::new(1))))
            .collect();
        let mut service = json!({"spec": spec});
        allocate_address(&mut service, &others, 0).unwrap();
        service["spec"].clone()
    }

    #[test]
    fn a_cluster_of_one_family_gives_no_other() {
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
    fn a_service_gets_an_address_that_no_other_has() {
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
    fn a_headless_service_without_selector_is_of_both_families() {
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
    fn a_service_on_nodes_gets_ports_there() {
        let spec = json!({"type": "NodePort", "ports": [{"port": 1}, {"port": 2, "nodePort": 31000}, {"port": 3}]});
        let ports = allocated(spec.clone(), &[])["ports"].clone();
        let numbers: Vec<_> = [0, 1, 2]
            .map(|index| ports[index]["nodePort"].clone())
            .to_vec();
        assert_eq!(numbers, [json!(30000), json!(31000), json!(30001)]);
    }

    #[test]
    fn an_address_is_kept() {
        let old = json!({"spec": {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}});
        let old = Object::new(old, Revision::new(1));
        let mut new = json!({"spec": {"selector": {"a": "b"}}});
        keep_address(&old, &mut new);
        assert_eq!(new["spec"]["clusterIP"], "10.96.0.9");
    }
}
