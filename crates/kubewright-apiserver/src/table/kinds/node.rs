use serde_json::{Value, json};

use crate::table::cell::{Cell, Row, or_none};
use crate::table::column::{AGE, Column, NAME};

pub(super) const NODE: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Made(status)),
    Column::text("Roles", Cell::Made(roles)),
    AGE,
    Column::text("Version", Cell::Text("/status/nodeInfo/kubeletVersion")),
    Column::text("Internal-IP", Cell::Made(|row| address(row, "InternalIP"))).wide(),
    Column::text("External-IP", Cell::Made(|row| address(row, "ExternalIP"))).wide(),
    Column::text(
        "OS-Image",
        Cell::TextOr("/status/nodeInfo/osImage", "<unknown>"),
    )
    .wide(),
    Column::text("Kernel-Version", Cell::Made(kernel)).wide(),
    Column::text(
        "Container-Runtime",
        Cell::TextOr("/status/nodeInfo/containerRuntimeVersion", "<unknown>"),
    )
    .wide(),
];

fn status(row: &Row<'_>) -> Value {
    let ready = match row.condition("Ready") {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    json!(match row.flag("/spec/unschedulable") {
        Some(true) => format!("{ready},SchedulingDisabled"),
        _ => ready.to_owned(),
    })
}

fn roles(row: &Row<'_>) -> Value {
    let labels = row.map("/metadata/labels").into_iter().flatten();
    let mut roles: Vec<&str> = labels
        .filter_map(|(key, value)| match key.as_str() {
            "kubernetes.io/role" => value.as_str(),
            key => key.strip_prefix("node-role.kubernetes.io/"),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    json!(or_none(roles.join(",")))
}

fn address(row: &Row<'_>, kind: &str) -> Value {
    let mut addresses = row.list("/status/addresses").iter();
    let found = addresses.find(|address| address["type"] == kind);
    let found = found.and_then(|address| address["address"].as_str());
    json!(found.unwrap_or("<none>"))
}

fn kernel(row: &Row<'_>) -> Value {
    let version = row.text_or("/status/nodeInfo/kernelVersion", "<unknown>");
    json!(match row.text("/status/nodeInfo/architecture") {
        "" => version.to_owned(),
        architecture => format!("{version} ({architecture})"),
    })
}
