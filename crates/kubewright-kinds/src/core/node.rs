//! Node: a machine that runs Pods.

use std::collections::BTreeSet;

use kubewright_core::format::{label_value, qualified_name};
use serde_json::{Map, Value, json};

use crate::addresses::warn_cidr;
use crate::columns::{AGE, Cell, Column, NAME, Row, or_none};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{object_mut, set_absent};
use crate::kind::{BuiltinKind, SelectableField, StatusOnCreate, StatusStrategy, Validation};
use crate::resource_list::{round_up, validate_quantity};
use crate::warning_list::Warnings;

/// A machine that runs Pods.
pub static NODE: BuiltinKind = BuiltinKind {
    selectable_fields: &[SelectableField::new("spec.unschedulable").or("false")],
    declared_columns: COLUMNS,
    defaults: apply_defaults,
    status: StatusStrategy {
        on_create: StatusOnCreate::Keep,
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    warnings: warn,
    ..BuiltinKind::new(groups::CORE, "Node", "nodes")
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Computed(status)),
    Column::text("Roles", Cell::Computed(roles)),
    AGE,
    Column::text("Version", Cell::Text("/status/nodeInfo/kubeletVersion")),
    Column::text(
        "Internal-IP",
        Cell::Computed(|row| address(row, "InternalIP")),
    )
    .wide(),
    Column::text(
        "External-IP",
        Cell::Computed(|row| address(row, "ExternalIP")),
    )
    .wide(),
    Column::text(
        "OS-Image",
        Cell::TextOr("/status/nodeInfo/osImage", "<unknown>"),
    )
    .wide(),
    Column::text("Kernel-Version", Cell::Computed(kernel)).wide(),
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
    let shown = found.and_then(|address| address["address"].as_str());
    json!(shown.unwrap_or("<none>"))
}

fn kernel(row: &Row<'_>) -> Value {
    let version = row.text_or("/status/nodeInfo/kernelVersion", "<unknown>");
    json!(match row.text("/status/nodeInfo/architecture") {
        "" => version.to_owned(),
        architecture => format!("{version} ({architecture})"),
    })
}

/// `SetDefaults_NodeStatus`, and `Convert_v1_NodeSpec_To_core_NodeSpec` for `podCIDR`.
fn apply_defaults(object: &mut Map<String, Value>) {
    if let Some(status) = object_mut(object, "status") {
        if let Some(capacity) = status.get("capacity").cloned() {
            set_absent(status, "allocatable", capacity);
        }
        round_up(status, &["capacity", "allocatable"]);
    }
    if let Some(spec) = object_mut(object, "spec") {
        sync_pod_cidr(spec);
    }
}

/// `podCIDR` is the first of `podCIDRs`, and overrides the list when they differ.
fn sync_pod_cidr(spec: &mut Map<String, Value>) {
    let first = spec.get("podCIDRs").and_then(|list| list.get(0)).cloned();
    match (spec.get("podCIDR").cloned(), first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            spec.insert("podCIDRs".to_owned(), json!([single]));
        }
        (None, Some(first)) => {
            spec.insert("podCIDR".to_owned(), first);
        }
        _ => {}
    }
}

/// `ValidateNode`, `ValidateNodeUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    // Kubernetes reports the taints of the spec under metadata.
    let spec = FieldPath::new(object, "spec");
    let metadata = FieldPath::new(object, "metadata");
    let taints = metadata.field("taints").with(spec.field("taints").value());
    validate_taints(taints, errors);
    validate_resources(object, errors);
    // Kubernetes validates an update as a create first, and repeats some of the rules.
    if let Some(old) = old {
        validate_resources(object, errors);
        validate_update(object, old, errors);
        validate_taints(taints, errors);
    }
}

fn validate_resources(object: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    for list in ["capacity", "allocatable"] {
        for (name, _) in status.field(list).entries() {
            let list = status.field(list);
            validate_quantity(list.field(name), name, errors);
        }
    }
}

/// A status write has the rules of an update.
fn validate_status(object: &Value, old: &Value, errors: &mut ErrorList) {
    validate(object, Some(old), errors);
}

fn validate_update(object: &Value, old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    let addresses = status.field("addresses");
    let mut seen = BTreeSet::new();
    for address in addresses.items() {
        if !seen.insert(address.value().to_string()) {
            errors.duplicate(address);
        }
    }
    let spec = FieldPath::new(object, "spec");
    let before = |field: &str| old["spec"].get(field).cloned().unwrap_or_default();
    let ranges = spec.field("podCIDRs");
    if before("podCIDRs").is_array() && before("podCIDRs") != *ranges.value() {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden(ranges, detail);
    }
    let provider = spec.field("providerID");
    if before("providerID").is_string() && before("providerID") != *provider.value() {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.forbidden(provider, detail);
    }
}

fn validate_taints(taints: FieldPath<'_>, errors: &mut ErrorList) {
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        let key = taint.field("key");
        errors.problems(key, qualified_name(key.text()));
        let value = taint.field("value");
        let problems = label_value(value.text());
        if !problems.is_empty() {
            errors.invalid_text(value, &problems.join(";"));
        }
        errors.one_of(taint.field("effect"), &EFFECTS);
        if !seen.insert((taint.text_of("effect"), taint.text_of("key"))) {
            errors.duplicate(taint);
        }
    }
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    // `configSource` is dropped from a node that had none.
    let had_source = old.is_some_and(|old| old["spec"]["configSource"].is_object());
    if had_source && spec.has("configSource") {
        warnings.add("spec.configSource: the feature is removed");
    }
    if !spec.text_of("externalID").is_empty() {
        warnings.add("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    for range in spec.field("podCIDRs").items() {
        warn_cidr(range, warnings);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::NODE;

    #[test]
    fn taints_are_unique_and_have_an_effect() {
        let taints = json!([
            {"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}, {"key": "b"},
        ]);
        let causes = NODE.validate(&json!({"spec": {"taints": taints}}), None);
        assert_eq!(causes[0].field, "metadata.taints[1]");
        assert_eq!(
            causes[1].with_field(),
            "metadata.taints[2].effect: Required value"
        );
    }

    #[test]
    fn removed_fields_and_noncanonical_ranges_are_warned_about() {
        let node = json!({"spec": {
            "configSource": {"configMap": {}}, "externalID": "a", "podCIDRs": ["FD00::/64"],
        }});
        let always = [
            "spec.externalID: this field is deprecated, and is unused by Kubernetes",
            "spec.podCIDRs[0]: IPv6 CIDR value \"FD00::/64\" should be in RFC 5952 canonical \
             format (\"fd00::/64\")",
        ];
        assert_eq!(NODE.warnings(&node, None), always);
        let updated = NODE.warnings(&node, Some(&node));
        assert_eq!(updated[0], "spec.configSource: the feature is removed");
        assert_eq!(updated[1..], always);
    }
}
