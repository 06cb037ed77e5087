//! DaemonSet: a Pod on each node.

use serde_json::{Map, Value, json};

use crate::columns::{AGE, Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{object_mut, set_absent};
use crate::kind::{BuiltinKind, ControllerSupport, Generation};
use crate::pod_spec::warn_template;
use crate::warning_list::Warnings;
use crate::workload::{CONTAINERS, IMAGES, SELECTOR, default_rolling_update};

/// A Pod on each node.
pub static DAEMON_SET: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    convert: set_template_generation,
    prepare_create,
    warnings: warn,
    ..BuiltinKind::new(groups::APPS, "DaemonSet", "daemonsets")
};

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/status/desiredNumberScheduled")),
    Column::integer("Current", Cell::Number("/status/currentNumberScheduled")),
    Column::integer("Ready", Cell::Number("/status/numberReady")),
    Column::integer("Up-to-date", Cell::Number("/status/updatedNumberScheduled")),
    Column::integer("Available", Cell::Number("/status/numberAvailable")),
    Column::text(
        "Node Selector",
        Cell::Labels("/spec/template/spec/nodeSelector"),
    ),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

/// `SetDefaults_DaemonSet`.
fn apply_defaults(object: &mut Map<String, Value>) {
    default_rolling_update(
        object,
        "updateStrategy",
        &[("maxUnavailable", json!(1)), ("maxSurge", json!(0))],
    );
}

/// `spec.templateGeneration` of older versions is an annotation in this one
/// (`Convert_apps_DaemonSet_To_v1_DaemonSet`).
fn set_template_generation(object: &mut Map<String, Value>) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else {
        return;
    };
    set_absent(metadata, "annotations", json!({}));
    if let Some(annotations) = object_mut(metadata, "annotations") {
        set_absent(annotations, TEMPLATE_GENERATION, json!("0"));
    }
}

/// The template generation of a new DaemonSet is 1.
fn prepare_create(object: &mut Map<String, Value>) {
    set_template_generation(object);
    let annotations =
        object_mut(object, "metadata").and_then(|metadata| object_mut(metadata, "annotations"));
    if let Some(annotations) = annotations {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), json!("1"));
    }
}

/// Templates have a generation of their own: warns when the template is new.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let is_new = |old: &Value| object.pointer("/spec/template") != old.pointer("/spec/template");
    if old.is_none_or(is_new) {
        let spec = FieldPath::new(object, "spec");
        warn_template(spec.field("template"), warnings);
    }
}
