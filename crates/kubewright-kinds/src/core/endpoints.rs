//! Endpoints: the addresses of a Service, in the deprecated form.

use serde_json::{Value, json};

use crate::addresses::{known_ips, warn_ip};
use crate::columns::{AGE, Cell, Column, NAME, Row, first_three};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, Permission};
use crate::warning_list::Warnings;

/// The addresses of a Service, in the deprecated form.
pub static ENDPOINTS: BuiltinKind = BuiltinKind {
    create_on_update: Permission::Allowed,
    declared_columns: COLUMNS,
    warnings: warn,
    ..BuiltinKind::new(groups::CORE, "Endpoints", "endpoints")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Endpoints", Cell::Computed(endpoints)),
    AGE,
];

fn endpoints(row: &Row<'_>) -> Value {
    let mut all = Vec::new();
    for subset in row.list("/subsets") {
        let addresses = known_ips(&subset["addresses"]);
        let ports = subset["ports"].as_array().filter(|ports| !ports.is_empty());
        let Some(ports) = ports else {
            all.extend(addresses.iter().map(|address| (*address).to_owned()));
            continue;
        };
        for port in ports {
            let number = &port["port"];
            all.extend(addresses.iter().map(|address| {
                if address.contains(':') {
                    format!("[{address}]:{number}")
                } else {
                    format!("{address}:{number}")
                }
            }));
        }
    }
    let none = match row.count("/subsets") {
        0 => "<none>",
        _ => "",
    };
    json!(first_three(&all, none))
}

/// `WarningsOnCreate`. The controller of Endpoints writes canonical addresses.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let labels = &object["metadata"]["labels"];
    if labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
        return;
    }
    for subset in FieldPath::new(object, "subsets").items() {
        for list in ["addresses", "notReadyAddresses"] {
            for address in subset.field(list).items() {
                warn_ip(address.field("ip"), warnings);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ENDPOINTS;

    #[test]
    fn addresses_are_checked_unless_the_controller_wrote_them() {
        let mut endpoints = json!({"metadata": {}, "subsets": [
            {"addresses": [{"ip": "10.0.0.1"}], "notReadyAddresses": [{"ip": "FD00::1"}]},
        ]});
        assert_eq!(
            ENDPOINTS.warnings(&endpoints, None),
            [
                "subsets[0].notReadyAddresses[0].ip: IPv6 address \"FD00::1\" should be in RFC \
                 5952 canonical format (\"fd00::1\")"
            ]
        );
        let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
        endpoints["metadata"]["labels"] = labels;
        assert!(ENDPOINTS.warnings(&endpoints, None).is_empty());
    }
}
