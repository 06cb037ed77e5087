//! FlowSchema: assigns requests to a priority level.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, Generation, StatusStrategy};

/// Assigns requests to a priority level.
pub static FLOW_SCHEMA: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    status: StatusStrategy::KEEPS_METADATA,
    ..BuiltinKind::new(groups::FLOW_CONTROL, "FlowSchema", "flowschemas")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text(
        "PriorityLevel",
        Cell::Text("/spec/priorityLevelConfiguration/name"),
    ),
    Column::text(
        "MatchingPrecedence",
        Cell::Number("/spec/matchingPrecedence"),
    ),
    Column::text(
        "DistinguisherMethod",
        Cell::TextOr("/spec/distinguisherMethod/type", "<none>"),
    ),
    AGE,
    Column::text("MissingPL", Cell::Computed(dangling)),
];

fn dangling(row: &Row<'_>) -> Value {
    let condition = row.condition("Dangling");
    let status = condition.and_then(|condition| condition["status"].as_str());
    json!(status.unwrap_or("?"))
}
