use serde_json::{Value, json};

use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

pub(super) const RUNTIME_CLASS: &[Column] =
    &[NAME, Column::text("Handler", Cell::Text("/handler")), AGE];

pub(super) const PRIORITY_CLASS: &[Column] = &[
    NAME,
    Column::integer("Value", Cell::Number("/value")),
    Column::boolean("Global-Default", Cell::Flag("/globalDefault", false)),
    AGE,
    Column::text("PreemptionPolicy", Cell::Text("/preemptionPolicy")),
];

pub(super) const WEBHOOKS: &[Column] = &[
    NAME,
    Column::integer("Webhooks", Cell::Count("/webhooks")),
    AGE,
];

const PARAMETER_KIND: Column = Column::text("ParamKind", Cell::Made(parameter_kind));

pub(super) const VALIDATING_POLICY: &[Column] = &[
    NAME,
    Column::integer("Validations", Cell::Count("/spec/validations")),
    PARAMETER_KIND,
    AGE,
];

pub(super) const MUTATING_POLICY: &[Column] = &[
    NAME,
    Column::integer("Mutations", Cell::Count("/spec/mutations")),
    PARAMETER_KIND,
    AGE,
];

pub(super) const POLICY_BINDING: &[Column] = &[
    NAME,
    Column::text("PolicyName", Cell::Text("/spec/policyName")),
    Column::text("ParamRef", Cell::Made(parameter)),
    AGE,
];

pub(super) const FLOW_SCHEMA: &[Column] = &[
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
    Column::text("MissingPL", Cell::Made(dangling)),
];

pub(super) const PRIORITY_LEVEL: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/spec/type")),
    Column::text(
        "NominalConcurrencyShares",
        Cell::Made(|row| or_none(row, "/spec/limited/nominalConcurrencyShares")),
    ),
    Column::text(
        "Queues",
        Cell::Made(|row| or_none(row, "/spec/limited/limitResponse/queuing/queues")),
    ),
    Column::text(
        "HandSize",
        Cell::Made(|row| or_none(row, "/spec/limited/limitResponse/queuing/handSize")),
    ),
    Column::text(
        "QueueLengthLimit",
        Cell::Made(|row| or_none(row, "/spec/limited/limitResponse/queuing/queueLengthLimit")),
    ),
    AGE,
];

pub(super) const RESOURCE_CLAIM: &[Column] =
    &[NAME, Column::text("State", Cell::Made(claim_state)), AGE];

pub(super) const RESOURCE_SLICE: &[Column] = &[
    NAME,
    Column::text("Node", Cell::Text("/spec/nodeName")),
    Column::text("Driver", Cell::Text("/spec/driver")),
    Column::text("Pool", Cell::Text("/spec/pool/name")),
    AGE,
];

fn or_none(row: &Row<'_>, path: &str) -> Value {
    row.at(path).cloned().unwrap_or_else(|| json!("<none>"))
}

fn parameter_kind(row: &Row<'_>) -> Value {
    match row.at("/spec/paramKind") {
        None => json!("<unset>"),
        Some(_) => json!(format!(
            "{}/{}",
            row.text("/spec/paramKind/apiVersion"),
            row.text("/spec/paramKind/kind")
        )),
    }
}

fn parameter(row: &Row<'_>) -> Value {
    let namespace = row.text_or("/spec/paramRef/namespace", "*");
    match row.text("/spec/paramRef/name") {
        "" => json!("<unset>"),
        name => json!(format!("{namespace}/{name}")),
    }
}

fn dangling(row: &Row<'_>) -> Value {
    let condition = row.condition("Dangling");
    let status = condition.and_then(|condition| condition["status"].as_str());
    json!(status.unwrap_or("?"))
}

fn claim_state(row: &Row<'_>) -> Value {
    let mut states = Vec::new();
    if row.is_terminating() {
        states.push("deleted");
    }
    if row.at("/status/allocation").is_some() {
        states.push("allocated");
        if row.count("/status/reservedFor") > 0 {
            states.push("reserved");
        }
    } else if !row.is_terminating() {
        states.push("pending");
    }
    json!(states.join(","))
}
