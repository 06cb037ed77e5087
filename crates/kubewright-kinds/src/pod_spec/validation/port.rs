//! Ports by number or by name.

use kubewright_core::format::{port_name, port_number};
use serde_json::json;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// `ValidatePortNumOrName`.
pub(crate) fn validate_port(at: FieldPath<'_>, errors: &mut ErrorList) {
    match at.value().as_str() {
        Some(name) => errors.problems(at, port_name(name)),
        None => {
            let number = at.number().unwrap_or(0);
            for problem in port_number(number) {
                errors.invalid_value(at, &json!(number), &problem);
            }
        }
    }
}
