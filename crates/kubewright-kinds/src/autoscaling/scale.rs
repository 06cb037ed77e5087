//! Scale: the replicas of a workload.

use crate::columns::{AGE, Cell, Column};
use crate::groups;
use crate::kind::BuiltinKind;

/// The replicas of a workload.
pub static SCALE: BuiltinKind = BuiltinKind {
    declared_columns: COLUMNS,
    ..BuiltinKind::subresource(groups::AUTOSCALING, "Scale", "scale")
};

const COLUMNS: &[Column] = &[
    Column::text("Name", Cell::Text("/metadata/name")),
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Available", Cell::Number("/status/replicas")),
    AGE,
];
