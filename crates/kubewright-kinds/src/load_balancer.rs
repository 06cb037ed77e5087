//! The status of a load balancer, which Services and Ingresses have.

use serde_json::Value;

use crate::addresses::warn_ip;
use crate::columns::Row;
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// Warns about the addresses in the status of a Service or an Ingress.
pub(crate) fn warn_load_balancer(object: &Value, warnings: &mut Warnings) {
    let status = FieldPath::new(object, "status");
    let balancer = status.field("loadBalancer");
    for entry in balancer.field("ingress").items() {
        warn_ip(entry.with(entry.field("ip").value()), warnings);
    }
}

/// The distinct addresses of a load balancer.
pub(crate) fn load_balancer_addresses<'a>(row: &Row<'a>) -> Vec<&'a str> {
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
