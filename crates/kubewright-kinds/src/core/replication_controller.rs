//! ReplicationController: the predecessor of ReplicaSet.

use serde_json::{Map, Value};

use crate::columns::{AGE, Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{is_empty_map, object_mut};
use crate::kind::{
    BuiltinKind, ControllerSupport, Generation, Propagation, SelectableField, SelectorForm, add_one,
};
use crate::pod_spec::warn_template;
use crate::warning_list::Warnings;
use crate::workload::{
    CONTAINERS, IMAGES, generation_changed, set_labels, template_labels, warn_pod_names,
};

/// The predecessor of ReplicaSet.
pub static REPLICATION_CONTROLLER: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    propagation: Propagation::Orphan,
    selectable_fields: &[SelectableField::new("status.replicas").or("0")],
    selector: SelectorForm::Labels,
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    warnings: warn,
    quota_usage: |_, usage| add_one(usage, "replicationcontrollers"),
    ..BuiltinKind::new(
        groups::CORE,
        "ReplicationController",
        "replicationcontrollers",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Current", Cell::Number("/status/replicas")),
    Column::integer("Ready", Cell::Number("/status/readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    Column::text("Selector", Cell::Labels("/spec/selector")).wide(),
];

/// `SetDefaults_ReplicationController`.
fn apply_defaults(object: &mut Map<String, Value>) {
    let Some(labels) = template_labels(object) else {
        return;
    };
    if let Some(spec) = object_mut(object, "spec")
        && is_empty_map(spec.get("selector"))
    {
        spec.insert("selector".to_owned(), labels.clone());
    }
    set_labels(object, labels);
}

/// On update, Kubernetes checks the old template.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let checked = match old {
        None => {
            warn_pod_names(object, warnings);
            object
        }
        Some(old) if !generation_changed(object, old) => return,
        Some(old) => old,
    };
    let spec = FieldPath::new(checked, "spec");
    warn_template(spec.field("template"), warnings);
}
