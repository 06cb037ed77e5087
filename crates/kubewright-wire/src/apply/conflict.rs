//! Conflicts of an apply with other field managers.

use std::collections::BTreeMap;

use super::managed::{ManagerId, Operation};
use crate::fields::FieldSet;
use crate::status::{Cause, CauseKind, Status, quoted};

/// Whether an apply takes ownership of fields that other managers own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It fails with a conflict.
    No,
    /// It takes ownership.
    Yes,
}

/// The error of an apply that would change fields of other managers.
pub(super) fn status(conflicts: &BTreeMap<ManagerId, FieldSet>) -> Status {
    let found: Vec<(String, String)> = conflicts
        .iter()
        .flat_map(|(id, fields)| {
            let paths = fields.paths();
            paths.into_iter().map(|path| (print(id), path.to_string()))
        })
        .collect();
    let message = match found.as_slice() {
        [(manager, path)] => {
            format!("Apply failed with 1 conflict: conflict with {manager}: {path}")
        }
        several => {
            let mut lines = Vec::new();
            for (id, fields) in conflicts {
                lines.push(format!("conflicts with {}:", print(id)));
                lines.extend(fields.paths().iter().map(|path| format!("- {path}")));
            }
            format!(
                "Apply failed with {} conflicts: {}",
                several.len(),
                lines.join("\n")
            )
        }
    };
    let causes = found.into_iter().map(|(manager, field)| Cause {
        kind: Some(CauseKind::FieldManagerConflict),
        message: format!("conflict with {manager}"),
        field,
    });
    Status::apply_conflict(message, causes.collect())
}

fn print(id: &ManagerId) -> String {
    let mut text = quoted(&id.manager);
    if !id.subresource.is_empty() {
        text.push_str(&format!(" with subresource {}", quoted(&id.subresource)));
    }
    if id.operation == Operation::Update {
        text.push_str(&format!(" using {}", id.api_version));
    }
    text
}
