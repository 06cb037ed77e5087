//! NetworkPolicy: the traffic that Pods allow.

use serde_json::{Map, Value, json};

use crate::addresses::warn_cidr;
use crate::columns::{AGE, Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::object_mut;
use crate::kind::{BuiltinKind, ControllerSupport, Generation};
use crate::warning_list::Warnings;

/// The traffic that Pods allow.
pub static NETWORK_POLICY: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    warnings: warn,
    ..BuiltinKind::new(groups::NETWORKING, "NetworkPolicy", "networkpolicies")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Pod-Selector", Cell::Selector("/spec/podSelector")),
    AGE,
];

/// `SetDefaults_NetworkPolicy`.
fn apply_defaults(object: &mut Map<String, Value>) {
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    let is_nonempty = |value: Option<&Value>| {
        value
            .and_then(Value::as_array)
            .is_some_and(|items| !items.is_empty())
    };
    if is_nonempty(spec.get("policyTypes")) {
        return;
    }
    let types = if is_nonempty(spec.get("egress")) {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    spec.insert("policyTypes".to_owned(), types);
}

fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.field(rules).items() {
            for peer in rule.field(peers).items() {
                let block = peer.field("ipBlock");
                warn_cidr(block.field("cidr"), warnings);
                for except in block.field("except").items() {
                    warn_cidr(except, warnings);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::networking::NETWORK_POLICY;
    use serde_json::json;

    #[test]
    fn noncanonical_blocks_are_warned_about() {
        let block = json!([{"ipBlock": {"cidr": "FD00::/8", "except": ["FD01::/16"]}}]);
        let policy = json!({"spec": {
            "egress": [{"to": block}], "ingress": [{"from": [{"podSelector": {}}]}],
        }});
        let kind = &NETWORK_POLICY;
        assert_eq!(
            kind.warnings(&policy, None),
            [
                "spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value \"FD00::/8\" should be in RFC \
                 5952 canonical format (\"fd00::/8\")",
                "spec.egress[0].to[0].ipBlock.except[0]: IPv6 CIDR value \"FD01::/16\" should be \
                 in RFC 5952 canonical format (\"fd01::/16\")",
            ]
        );
    }
}
