use std::collections::BTreeSet;

use kubewright_wire::schema::Quantity;
use serde_json::Value;

use super::formats::{label_value, qualified_name};
use super::{At, Findings};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// `ValidateNode`, `ValidateNodeUpdate`.
pub(super) fn node(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    // Kubernetes looks for the taints of the specification here.
    let spec = At::top(object, "spec");
    let metadata = At::top(object, "metadata");
    let taints = metadata.field("taints").with(spec.field("taints").value());
    check_taints(taints, findings);
    amounts(object, findings);
    // A changed node is looked at as a new one, and then as a changed one once more.
    if let Some(old) = old {
        amounts(object, findings);
        changed(object, old, findings);
        check_taints(taints, findings);
    }
}

fn amounts(object: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    for list in ["capacity", "allocatable"] {
        for (name, _) in status.field(list).entries() {
            let list = status.field(list);
            amount(list.field(name), name, findings);
        }
    }
}

/// The same for a node of which only the status was written.
pub(super) fn node_status(object: &Value, old: &Value, findings: &mut Findings) {
    node(object, Some(old), findings);
}

fn changed(object: &Value, old: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    let addresses = status.field("addresses");
    let mut seen = BTreeSet::new();
    for address in addresses.items() {
        if !seen.insert(address.value().to_string()) {
            findings.duplicate(address);
        }
    }
    let spec = At::top(object, "spec");
    let before = |field: &str| old["spec"].get(field).cloned().unwrap_or_default();
    let ranges = spec.field("podCIDRs");
    if before("podCIDRs").is_array() && before("podCIDRs") != *ranges.value() {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        findings.forbidden(ranges, detail);
    }
    let provider = spec.field("providerID");
    if before("providerID").is_string() && before("providerID") != *provider.value() {
        let detail = "node updates may not change providerID except from \"\" to valid";
        findings.forbidden(provider, detail);
    }
}

fn check_taints(taints: At<'_>, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        let key = taint.field("key");
        findings.problems(key, qualified_name(key.text()));
        let value = taint.field("value");
        let problems = label_value(value.text());
        if !problems.is_empty() {
            findings.invalid_text(value, &problems.join(";"));
        }
        findings.one_of(taint.field("effect"), &EFFECTS);
        if !seen.insert((taint.text_of("effect"), taint.text_of("key"))) {
            findings.duplicate(taint);
        }
    }
}

/// `ValidateResourceQuantityValue`.
pub(super) fn amount(at: At<'_>, name: &str, findings: &mut Findings) {
    let Some(quantity) = Quantity::parse(at.text()) else {
        return;
    };
    if quantity.is_negative() {
        findings.invalid(at, "must be greater than or equal to 0");
    }
    if is_counted(name) && !quantity.is_whole() {
        findings.invalid(at, "must be an integer");
    }
}

/// What there is only a whole number of.
fn is_counted(name: &str) -> bool {
    const COUNTED: [&str; 9] = [
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    ];
    COUNTED.contains(&name) || is_extended(name)
}

/// `IsNativeResource`.
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`.
pub(super) fn is_extended(name: &str) -> bool {
    let is_request = name.starts_with("requests.");
    !is_native(name) && !is_request && qualified_name(&format!("requests.{name}")).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Findings;
    use super::node;

    #[test]
    fn taints_are_unique_and_have_an_effect() {
        let mut findings = Findings::default();
        let taints = json!([{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}, {"key": "b"}]);
        node(&json!({"spec": {"taints": taints}}), None, &mut findings);
        let causes = findings.into_causes();
        assert_eq!(causes[0].field, "metadata.taints[1]");
        assert_eq!(
            causes[1].with_field(),
            "metadata.taints[2].effect: Required value"
        );
    }
}
