//! ConfigMap: configuration as keys and values.

use serde_json::{Value, json};

use super::data_keys::{LARGEST, decoded, validate_immutable, validate_key};
use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, Validation, add_one};

/// Configuration as keys and values.
pub static CONFIG_MAP: BuiltinKind = BuiltinKind {
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    quota_usage: |_, usage| add_one(usage, "configmaps"),
    ..BuiltinKind::new(groups::CORE, "ConfigMap", "configmaps")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text(
        "Data",
        Cell::Computed(|row| json!(row.count("/data") + row.count("/binaryData"))),
    ),
    AGE,
];

/// `ValidateConfigMap`, `ValidateConfigMapUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    if let Some(old) = old {
        validate_immutable(object, old, &["data", "binaryData"], errors);
    }
    let binary = FieldPath::new(object, "binaryData");
    let mut size = 0;
    let data = FieldPath::new(object, "data");
    for (key, value) in data.entries() {
        validate_key(value, key, errors);
        if binary.has(key) {
            let detail = "duplicate of key present in binaryData";
            errors.invalid_value(value, &Value::from(key), detail);
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        validate_key(value, key, errors);
        size += decoded(value.value()).len();
    }
    if size > LARGEST {
        errors.too_long("", LARGEST);
    }
}
