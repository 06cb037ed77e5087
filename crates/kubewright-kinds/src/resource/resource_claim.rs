//! ResourceClaim: a request for devices.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::device_requests::default_device_requests;
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::groups;
use crate::json::{items, object_mut, text};
use crate::kind::{BuiltinKind, ControllerSupport, DeleteResponse, StatusStrategy};

/// A request for devices.
pub static RESOURCE_CLAIM: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: default_device_requests,
    status: StatusStrategy {
        prepare: prepare_status,
        ..StatusStrategy::RESETS_METADATA
    },
    ..BuiltinKind::new(groups::RESOURCE, "ResourceClaim", "resourceclaims")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("State", Cell::Computed(claim_state)),
    AGE,
];

fn claim_state(row: &Row<'_>) -> Value {
    let mut states = Vec::new();
    if row.is_terminating() {
        states.push("deleted");
    }
    if row.at("/status/allocation").is_some() {
        states.push("allocated");
        if row.count("/status/reservedFor") > 0 {
            states.push("reserved");
        }
    } else if !row.is_terminating() {
        states.push("pending");
    }
    json!(states.join(","))
}

/// Drops the status of devices that are no longer allocated.
fn prepare_status(old: &Value, object: &mut Map<String, Value>) {
    let Some(status) = object_mut(object, "status") else {
        return;
    };
    let allocated = allocated_devices(status.get("allocation"));
    let mut deallocated = allocated_devices(old["status"].get("allocation"));
    deallocated.retain(|device| !allocated.contains(device));
    let Some(devices) = status.get_mut("devices").and_then(Value::as_array_mut) else {
        return;
    };
    devices.retain(|device| !deallocated.contains(&device_id(device)));
    if devices.is_empty() {
        status.remove("devices");
    }
}

fn allocated_devices(allocation: Option<&Value>) -> BTreeSet<[String; 4]> {
    let results = allocation.and_then(|allocation| allocation.pointer("/devices/results"));
    items(results.unwrap_or(&Value::Null))
        .map(device_id)
        .collect()
}

/// What identifies a device, or a share of it.
fn device_id(device: &Value) -> [String; 4] {
    ["driver", "pool", "device", "shareID"].map(|field| text(&device[field]).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::RESOURCE_CLAIM;

    #[test]
    fn device_status_is_dropped_with_its_allocation() {
        let device = |name: &str| json!({"driver": "d", "pool": "p", "device": name});
        let old = json!({
            "metadata": {},
            "status": {"allocation": {"devices": {"results": [device("a"), device("b")]}}},
        });
        let written_devices = |allocation: Value, devices: Value| {
            let status = json!({"allocation": allocation, "devices": devices});
            let mut new = json!({"metadata": {}, "status": status});
            RESOURCE_CLAIM.prepare_status_update(&old, new.as_object_mut().unwrap());
            new["status"]["devices"].clone()
        };
        let both = json!([device("a"), device("b")]);
        let only_b = json!({"devices": {"results": [device("b")]}});
        assert_eq!(written_devices(only_b, both.clone()), json!([device("b")]));
        assert_eq!(written_devices(Value::Null, both), Value::Null);
    }
}
