//! IngressClass: the controller of Ingresses.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, Row};
use crate::groups;
use crate::kind::{BuiltinKind, Generation};

/// The controller of Ingresses.
pub static INGRESS_CLASS: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    ..BuiltinKind::new(groups::NETWORKING, "IngressClass", "ingressclasses")
};

const COLUMNS: &[Column] = &[
    Column::text("Name", Cell::Computed(class_name)).named(),
    Column::text("Controller", Cell::Text("/spec/controller")),
    Column::text("Parameters", Cell::Computed(parameters)),
    AGE,
];

fn class_name(row: &Row<'_>) -> Value {
    let is_default = row
        .map("/metadata/annotations")
        .and_then(|annotations| annotations.get("ingressclass.kubernetes.io/is-default-class"));
    let name = row.text("/metadata/name");
    json!(match is_default.and_then(Value::as_str) {
        Some("true") => format!("{name} (default)"),
        _ => name.to_owned(),
    })
}

fn parameters(row: &Row<'_>) -> Value {
    if row.at("/spec/parameters").is_none() {
        return json!("<none>");
    }
    let (kind, name) = (
        row.text("/spec/parameters/kind"),
        row.text("/spec/parameters/name"),
    );
    json!(match row.text("/spec/parameters/apiGroup") {
        "" => format!("{kind}/{name}"),
        group => format!("{kind}.{group}/{name}"),
    })
}
