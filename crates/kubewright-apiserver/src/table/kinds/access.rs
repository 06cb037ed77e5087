use serde_json::{Value, json};

use crate::table::age::human;
use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

pub(super) const BINDING: &[Column] = &[
    NAME,
    Column::text("Role", Cell::Made(role)),
    AGE,
    Column::text("Users", Cell::Made(|row| subjects(row, "User"))).wide(),
    Column::text("Groups", Cell::Made(|row| subjects(row, "Group"))).wide(),
    Column::text(
        "ServiceAccounts",
        Cell::Made(|row| subjects(row, "ServiceAccount")),
    )
    .wide(),
];

pub(super) const SIGNING_REQUEST: &[Column] = &[
    NAME,
    AGE,
    Column::text("SignerName", Cell::TextOr("/spec/signerName", "<none>")),
    Column::text("Requestor", Cell::Text("/spec/username")),
    Column::text("RequestedDuration", Cell::Made(requested)),
    Column::text("Condition", Cell::Made(decision)),
];

fn role(row: &Row<'_>) -> Value {
    let (kind, name) = (row.text("/roleRef/kind"), row.text("/roleRef/name"));
    json!(format!("{kind}/{name}"))
}

fn subjects(row: &Row<'_>, kind: &str) -> Value {
    let subjects = row.list("/subjects").iter();
    let names = subjects.filter(|one| one["kind"] == kind).map(|one| {
        let text = |field: &str| one[field].as_str().unwrap_or_default();
        match (kind, text("namespace")) {
            ("ServiceAccount", namespace) if !namespace.is_empty() => {
                format!("{namespace}/{}", text("name"))
            }
            _ => text("name").to_owned(),
        }
    });
    json!(names.collect::<Vec<_>>().join(", "))
}

fn requested(row: &Row<'_>) -> Value {
    match row.at("/spec/expirationSeconds").and_then(Value::as_i64) {
        Some(seconds) => json!(human(seconds)),
        None => json!("<none>"),
    }
}

/// The last decision that counts, and whether a certificate was issued.
fn decision(row: &Row<'_>) -> Value {
    let has = |kind: &str| row.condition(kind).is_some();
    let mut shown = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied".to_owned(),
        (false, true) => "Approved".to_owned(),
        (false, false) => "Pending".to_owned(),
    };
    if has("Failed") {
        shown.push_str(",Failed");
    }
    if !row.text("/status/certificate").is_empty() {
        shown.push_str(",Issued");
    }
    json!(shown)
}
