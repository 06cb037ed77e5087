//! PriorityLevelConfiguration: a limit on concurrent requests.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, Generation, StatusStrategy};

/// A limit on concurrent requests.
pub static PRIORITY_LEVEL_CONFIGURATION: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    status: StatusStrategy::KEEPS_METADATA,
    ..BuiltinKind::new(
        groups::FLOW_CONTROL,
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/spec/type")),
    Column::text(
        "NominalConcurrencyShares",
        Cell::Computed(|row| value_or_none(row, "/spec/limited/nominalConcurrencyShares")),
    ),
    Column::text(
        "Queues",
        Cell::Computed(|row| value_or_none(row, "/spec/limited/limitResponse/queuing/queues")),
    ),
    Column::text(
        "HandSize",
        Cell::Computed(|row| value_or_none(row, "/spec/limited/limitResponse/queuing/handSize")),
    ),
    Column::text(
        "QueueLengthLimit",
        Cell::Computed(|row| {
            value_or_none(row, "/spec/limited/limitResponse/queuing/queueLengthLimit")
        }),
    ),
    AGE,
];

fn value_or_none(row: &Row<'_>, path: &str) -> Value {
    row.at(path).cloned().unwrap_or_else(|| json!("<none>"))
}
