//! PodTemplate: a template for Pods.

use serde_json::Value;

use crate::columns::{Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Generation, Validation};
use crate::pod_spec::{validate_template, warn_template};
use crate::warning_list::Warnings;
use crate::workload::generation_changed;

/// A template for Pods.
pub static POD_TEMPLATE: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    delete_response: DeleteResponse::Object,
    pod_spec: Some(&["template", "spec"]),
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    warnings: warn,
    ..BuiltinKind::new(groups::CORE, "PodTemplate", "podtemplates")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Containers", Cell::Names("/template/spec/containers")),
    Column::text("Images", Cell::Images("/template/spec/containers")),
    Column::text("Pod Labels", Cell::Labels("/template/metadata/labels")),
];

/// `ValidatePodTemplate`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    validate_template(FieldPath::new(object, "template"), errors);
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_none_or(|old| generation_changed(object, old)) {
        warn_template(FieldPath::new(object, "template"), warnings);
    }
}
