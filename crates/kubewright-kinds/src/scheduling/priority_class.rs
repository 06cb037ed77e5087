//! PriorityClass: the priority of Pods.

use crate::columns::{AGE, Cell, Column, NAME};
use crate::groups;
use crate::kind::{BuiltinKind, Generation};

/// The priority of Pods.
pub static PRIORITY_CLASS: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    ..BuiltinKind::new(groups::SCHEDULING, "PriorityClass", "priorityclasses")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Value", Cell::Number("/value")),
    Column::boolean("Global-Default", Cell::Flag("/globalDefault", false)),
    AGE,
    Column::text("PreemptionPolicy", Cell::Text("/preemptionPolicy")),
];
