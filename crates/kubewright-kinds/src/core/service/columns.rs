//! The table of Services.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, or_none};
use crate::json::text;
use crate::load_balancer::load_balancer_addresses;

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/spec/type")),
    Column::text("Cluster-IP", Cell::TextOr("/spec/clusterIPs/0", "<none>")),
    Column::text("External-IP", Cell::Computed(external_address)),
    Column::text("Port(s)", Cell::Computed(service_ports)),
    AGE,
    Column::text("Selector", Cell::Labels("/spec/selector")).wide(),
];

fn external_address(row: &Row<'_>) -> Value {
    let given = row.texts("/spec/externalIPs");
    json!(match row.text("/spec/type") {
        "ClusterIP" | "NodePort" => or_none(given.join(",")),
        "LoadBalancer" => {
            let all = [load_balancer_addresses(row), given].concat();
            if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all.join(",")
            }
        }
        "ExternalName" => row.text("/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    })
}

fn service_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/spec/ports").iter().map(|port| {
        let number = &port["port"];
        let protocol = text(&port["protocol"]);
        match port["nodePort"].as_i64().unwrap_or_default() {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    });
    json!(or_none(ports.collect::<Vec<_>>().join(",")))
}
