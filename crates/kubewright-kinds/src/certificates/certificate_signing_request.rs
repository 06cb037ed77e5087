//! CertificateSigningRequest: a request for a certificate.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, human_duration};
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, SelectableField};

/// A request for a certificate.
pub static CERTIFICATE_SIGNING_REQUEST: BuiltinKind = BuiltinKind {
    selectable_fields: &[SelectableField::new("spec.signerName")],
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    ..BuiltinKind::new(
        groups::CERTIFICATES,
        "CertificateSigningRequest",
        "certificatesigningrequests",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    AGE,
    Column::text("SignerName", Cell::TextOr("/spec/signerName", "<none>")),
    Column::text("Requestor", Cell::Text("/spec/username")),
    Column::text("RequestedDuration", Cell::Computed(requested)),
    Column::text("Condition", Cell::Computed(decision)),
];

fn requested(row: &Row<'_>) -> Value {
    match row.at("/spec/expirationSeconds").and_then(Value::as_i64) {
        Some(seconds) => json!(human_duration(seconds)),
        None => json!("<none>"),
    }
}

/// The decision, and whether a certificate was issued.
fn decision(row: &Row<'_>) -> Value {
    let has = |kind: &str| row.condition(kind).is_some();
    let decision = ["Denied", "Approved"].into_iter().find(|kind| has(kind));
    let mut shown = decision.unwrap_or("Pending").to_owned();
    if has("Failed") {
        shown.push_str(",Failed");
    }
    if !row.text("/status/certificate").is_empty() {
        shown.push_str(",Issued");
    }
    json!(shown)
}
