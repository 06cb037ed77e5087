//! EndpointSlice: addresses of a Service.

use serde_json::{Map, Value, json};

use super::validation::validate;
use crate::addresses::warn_ip;
use crate::columns::{AGE, Cell, Column, NAME, Row, first_three};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{objects_mut, text};
use crate::kind::{BuiltinKind, Generation, Validation};
use crate::warning_list::Warnings;

/// Addresses of a Service.
pub static ENDPOINT_SLICE: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    prepare_create: drop_topology,
    prepare_update: |_, slice| drop_topology(slice),
    validation: Validation::Rules(validate),
    warnings: warn,
    ..BuiltinKind::new(groups::DISCOVERY, "EndpointSlice", "endpointslices")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("AddressType", Cell::Text("/addressType")),
    Column::text("Ports", Cell::Computed(slice_ports)),
    Column::text("Endpoints", Cell::Computed(slice_addresses)),
    AGE,
];

fn slice_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/ports").iter();
    let shown: Vec<String> = ports
        .map(
            |port| match (port["port"].as_i64(), port["name"].as_str()) {
                (Some(number), _) => number.to_string(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => "*".to_owned(),
            },
        )
        .collect();
    json!(first_three(&shown, "<unset>"))
}

fn slice_addresses(row: &Row<'_>) -> Value {
    let endpoints = row.list("/endpoints").iter();
    let addresses: Vec<String> = endpoints
        .flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten())
        .filter_map(|address| address.as_str().map(str::to_owned))
        .collect();
    json!(first_three(&addresses, "<unset>"))
}

/// Drops a field that `v1` cannot write (`dropTopologyOnV1`). No other version is served, so no
/// stored object has it.
fn drop_topology(slice: &mut Map<String, Value>) {
    for endpoint in objects_mut(slice.get_mut("endpoints")) {
        endpoint.remove("deprecatedTopology");
    }
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_none() && object["addressType"] == "FQDN" {
        warnings.add("spec.addressType: FQDN endpoints are deprecated");
    }
    // The controllers write canonical addresses.
    let labels = &object["metadata"]["labels"];
    if matches!(
        text(&labels["endpointslice.kubernetes.io/managed-by"]),
        "endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io"
    ) {
        return;
    }
    for endpoint in FieldPath::new(object, "endpoints").items() {
        for address in endpoint.field("addresses").items() {
            warn_ip(address, warnings);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ENDPOINT_SLICE;

    #[test]
    fn deprecated_topology_is_dropped() {
        let mut slice = json!({"endpoints": [
            {"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}, {},
        ]});
        ENDPOINT_SLICE.prepare_create(slice.as_object_mut().unwrap());
        assert_eq!(
            slice,
            json!({"endpoints": [{"addresses": ["10.0.0.1"]}, {}]})
        );
    }

    #[test]
    fn addresses_are_checked_unless_a_controller_wrote_them() {
        let mut slice = json!({
            "metadata": {}, "addressType": "IPv6", "endpoints": [{"addresses": ["FD00::1"]}],
        });
        assert_eq!(
            ENDPOINT_SLICE.warnings(&slice, Some(&slice)),
            [
                "endpoints[0].addresses[0]: IPv6 address \"FD00::1\" should be in RFC 5952 \
                 canonical format (\"fd00::1\")"
            ]
        );
        let manager = "endpointslice-controller.k8s.io";
        slice["metadata"]["labels"] = json!({"endpointslice.kubernetes.io/managed-by": manager});
        slice["addressType"] = json!("FQDN");
        assert_eq!(
            ENDPOINT_SLICE.warnings(&slice, None),
            ["spec.addressType: FQDN endpoints are deprecated"]
        );
        assert!(ENDPOINT_SLICE.warnings(&slice, Some(&slice)).is_empty());
    }
}
