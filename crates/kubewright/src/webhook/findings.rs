//! The errors and warnings of a validation.

use kubewright_wire::status::{Cause, CauseKind};
use serde::Serialize;
use serde_json::Value;

/// The errors and warnings of a validation, each error with the path of its field.
///
/// Errors deny the request. Clients show warnings in either case.
///
/// ```
/// use kubewright::webhook::Findings;
///
/// let mut findings = Findings::default();
/// findings.required("spec.image", "image is required");
/// findings.invalid("spec.replicas", -1, "must not be negative");
/// assert!(!findings.is_valid());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    pub(super) causes: Vec<Cause>,
    pub(super) warnings: Vec<String>,
}

impl Findings {
    /// Adds the error that a required field is missing; `why` may be empty.
    pub fn required(&mut self, path: impl AsRef<str>, why: &str) {
        self.causes.push(Cause::required(path.as_ref(), why));
    }

    /// Adds the error that the value of a field is invalid.
    pub fn invalid(&mut self, path: impl AsRef<str>, value: impl Serialize, why: &str) {
        self.causes
            .push(Cause::invalid(path.as_ref(), &to_value(value), why));
    }

    /// Adds the error that a field must not be set or changed.
    pub fn forbidden(&mut self, path: impl AsRef<str>, why: &str) {
        self.causes.push(Cause::forbidden(path.as_ref(), why));
    }

    /// Adds the error that a value is a duplicate.
    pub fn duplicate(&mut self, path: impl AsRef<str>, value: impl Serialize) {
        self.causes
            .push(Cause::duplicate(path.as_ref(), &to_value(value)));
    }

    /// Adds the error that a value is not one of the allowed ones.
    pub fn unsupported(&mut self, path: impl AsRef<str>, value: impl Serialize, allowed: &[&str]) {
        self.causes.push(Cause::not_supported(
            path.as_ref(),
            &to_value(value),
            allowed,
        ));
    }

    /// Adds the error that a value refers to something that does not exist.
    pub fn not_found(&mut self, path: impl AsRef<str>, value: impl Serialize) {
        let kind = CauseKind::FieldValueNotFound;
        self.causes
            .push(Cause::new(kind, path.as_ref(), Some(&to_value(value)), ""));
    }

    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Whether there is no error.
    pub fn is_valid(&self) -> bool {
        self.causes.is_empty()
    }

    /// Returns the errors as clients show them: path, type, value and reason.
    pub fn errors(&self) -> Vec<String> {
        self.causes.iter().map(Cause::with_field).collect()
    }
}

fn to_value(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
