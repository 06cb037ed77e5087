use serde_json::{Value, json};

use crate::table::cell::{Cell, Row, first_three, or_none};
use crate::table::column::{AGE, Column, NAME};

pub(super) const SERVICE: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/spec/type")),
    Column::text("Cluster-IP", Cell::TextOr("/spec/clusterIPs/0", "<none>")),
    Column::text("External-IP", Cell::Made(external_address)),
    Column::text("Port(s)", Cell::Made(service_ports)),
    AGE,
    Column::text("Selector", Cell::Labels("/spec/selector")).wide(),
];

pub(super) const ENDPOINTS: &[Column] =
    &[NAME, Column::text("Endpoints", Cell::Made(endpoints)), AGE];

pub(super) const ENDPOINT_SLICE: &[Column] = &[
    NAME,
    Column::text("AddressType", Cell::Text("/addressType")),
    Column::text("Ports", Cell::Made(slice_ports)),
    Column::text("Endpoints", Cell::Made(slice_addresses)),
    AGE,
];

pub(super) const INGRESS: &[Column] = &[
    NAME,
    Column::text("Class", Cell::TextOr("/spec/ingressClassName", "<none>")),
    Column::text("Hosts", Cell::Made(hosts)),
    Column::text("Address", Cell::Made(|row| json!(balancer(row).join(",")))),
    Column::text("Ports", Cell::Made(ingress_ports)),
    AGE,
];

pub(super) const INGRESS_CLASS: &[Column] = &[
    Column::text("Name", Cell::Made(class_name)).named(),
    Column::text("Controller", Cell::Text("/spec/controller")),
    Column::text("Parameters", Cell::Made(parameters)),
    AGE,
];

pub(super) const NETWORK_POLICY: &[Column] = &[
    NAME,
    Column::text("Pod-Selector", Cell::Selector("/spec/podSelector")),
    AGE,
];

pub(super) const SERVICE_CIDR: &[Column] = &[
    NAME,
    Column::text("CIDRs", Cell::Joined("/spec/cidrs")),
    AGE,
];

pub(super) const IP_ADDRESS: &[Column] = &[NAME, Column::text("ParentRef", Cell::Made(parent))];

/// The addresses of a load balancer, each once.
fn balancer<'a>(row: &Row<'a>) -> Vec<&'a str> {
    let entries = row.list("/status/loadBalancer/ingress").iter();
    let mut addresses: Vec<&str> = entries
        .filter_map(|entry| {
            let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
            text("ip").or_else(|| text("hostname"))
        })
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn external_address(row: &Row<'_>) -> Value {
    let given = row.texts("/spec/externalIPs");
    json!(match row.text("/spec/type") {
        "ClusterIP" | "NodePort" => or_none(given.join(",")),
        "LoadBalancer" => {
            let all = [balancer(row), given].concat();
            match all.is_empty() {
                true => "<pending>".to_owned(),
                false => all.join(","),
            }
        }
        "ExternalName" => row.text("/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    })
}

fn service_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/spec/ports").iter().map(|port| {
        let number = &port["port"];
        let protocol = port["protocol"].as_str().unwrap_or_default();
        match port["nodePort"].as_i64().unwrap_or_default() {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    });
    json!(or_none(ports.collect::<Vec<_>>().join(",")))
}

fn endpoints(row: &Row<'_>) -> Value {
    let mut all = Vec::new();
    for subset in row.list("/subsets") {
        let addresses = subset["addresses"].as_array().into_iter().flatten();
        let addresses: Vec<&str> = addresses.filter_map(|one| one["ip"].as_str()).collect();
        let ports = subset["ports"].as_array().filter(|ports| !ports.is_empty());
        let Some(ports) = ports else {
            all.extend(addresses.iter().map(|address| (*address).to_owned()));
            continue;
        };
        for port in ports {
            let number = &port["port"];
            all.extend(addresses.iter().map(|address| match address.contains(':') {
                true => format!("[{address}]:{number}"),
                false => format!("{address}:{number}"),
            }));
        }
    }
    let none = match row.count("/subsets") {
        0 => "<none>",
        _ => "",
    };
    json!(first_three(&all, none))
}

fn slice_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/ports").iter();
    let ports: Vec<String> = ports
        .map(
            |port| match (port["port"].as_i64(), port["name"].as_str()) {
                (Some(number), _) => number.to_string(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => "*".to_owned(),
            },
        )
        .collect();
    json!(first_three(&ports, "<unset>"))
}

fn slice_addresses(row: &Row<'_>) -> Value {
    let endpoints = row.list("/endpoints").iter();
    let addresses: Vec<String> = endpoints
        .flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten())
        .filter_map(|address| address.as_str().map(str::to_owned))
        .collect();
    json!(first_three(&addresses, "<unset>"))
}

fn hosts(row: &Row<'_>) -> Value {
    let hosts = row.each("/spec/rules", "host");
    let hosts: Vec<String> = hosts
        .into_iter()
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    json!(first_three(&hosts, "*"))
}

fn ingress_ports(row: &Row<'_>) -> Value {
    json!(match row.count("/spec/tls") {
        0 => "80",
        _ => "80, 443",
    })
}

fn class_name(row: &Row<'_>) -> Value {
    let is_default = row
        .map("/metadata/annotations")
        .and_then(|annotations| annotations.get("ingressclass.kubernetes.io/is-default-class"));
    let name = row.text("/metadata/name");
    json!(match is_default.and_then(Value::as_str) {
        Some("true") => format!("{name} (default)"),
        _ => name.to_owned(),
    })
}

fn parameters(row: &Row<'_>) -> Value {
    if row.at("/spec/parameters").is_none() {
        return json!("<none>");
    }
    let (kind, name) = (
        row.text("/spec/parameters/kind"),
        row.text("/spec/parameters/name"),
    );
    json!(match row.text("/spec/parameters/apiGroup") {
        "" => format!("{kind}/{name}"),
        group => format!("{kind}.{group}/{name}"),
    })
}

fn parent(row: &Row<'_>) -> Value {
    if row.at("/spec/parentRef").is_none() {
        return json!("<none>");
    }
    let text = |field: &str| row.text(&format!("/spec/parentRef/{field}"));
    let mut parts = vec![match text("group") {
        "" => text("resource").to_lowercase(),
        group => format!("{}.{group}", text("resource")).to_lowercase(),
    }];
    parts.extend(
        Some(text("namespace"))
            .filter(|one| !one.is_empty())
            .map(str::to_owned),
    );
    parts.push(text("name").to_owned());
    json!(parts.join("/"))
}
