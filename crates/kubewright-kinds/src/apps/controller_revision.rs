//! ControllerRevision: a snapshot of the state of a StatefulSet or DaemonSet.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::groups;
use crate::kind::BuiltinKind;

/// A snapshot of the state of a StatefulSet or DaemonSet.
pub static CONTROLLER_REVISION: BuiltinKind = BuiltinKind {
    declared_columns: COLUMNS,
    ..BuiltinKind::new(groups::APPS, "ControllerRevision", "controllerrevisions")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Controller", Cell::Computed(controller)),
    Column::text("Revision", Cell::Number("/revision")),
    AGE,
];

fn controller(row: &Row<'_>) -> Value {
    let mut owners = row.list("/metadata/ownerReferences").iter();
    let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
        return json!("<none>");
    };
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let kind = match text("apiVersion").split_once('/') {
        Some((group, _)) => format!("{}.{group}", text("kind")),
        None => text("kind").to_owned(),
    };
    json!(format!("{}/{}", kind.to_lowercase(), text("name")))
}
