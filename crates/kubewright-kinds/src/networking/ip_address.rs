//! IPAddress: an address that a Service has.

use serde_json::{Value, json};

use crate::columns::{Cell, Column, NAME, Row};
use crate::groups;
use crate::kind::BuiltinKind;

/// An address that a Service has.
pub static IP_ADDRESS: BuiltinKind = BuiltinKind {
    declared_columns: COLUMNS,
    ..BuiltinKind::new(groups::NETWORKING, "IPAddress", "ipaddresses")
};

const COLUMNS: &[Column] = &[NAME, Column::text("ParentRef", Cell::Computed(parent))];

fn parent(row: &Row<'_>) -> Value {
    if row.at("/spec/parentRef").is_none() {
        return json!("<none>");
    }
    let text = |field: &str| row.text(&format!("/spec/parentRef/{field}"));
    let mut parts = vec![match text("group") {
        "" => text("resource").to_lowercase(),
        group => format!("{}.{group}", text("resource")).to_lowercase(),
    }];
    parts.extend(
        Some(text("namespace"))
            .filter(|namespace| !namespace.is_empty())
            .map(str::to_owned),
    );
    parts.push(text("name").to_owned());
    json!(parts.join("/"))
}
