//! The validation errors of an object, in order.

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use crate::field_path::FieldPath;

/// Validation errors in the order that Kubernetes reports them (`field.ErrorList` of
/// k8s.io/apimachinery).
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    causes: Vec<Cause>,
}

impl ErrorList {
    pub(crate) fn into_causes(self) -> Vec<Cause> {
        self.causes
    }

    /// The errors as they are printed.
    #[cfg(test)]
    pub(crate) fn into_messages(self) -> Vec<String> {
        self.causes.iter().map(Cause::with_field).collect()
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.causes.len()
    }

    pub(crate) fn required(&mut self, at: FieldPath<'_>, detail: &str) {
        self.causes.push(Cause::required(&at.path(), detail));
    }

    /// The message shows the value of the field.
    pub(crate) fn invalid(&mut self, at: FieldPath<'_>, detail: &str) {
        self.causes
            .push(Cause::invalid(&at.path(), at.value(), detail));
    }

    /// The message shows the field as a string: an absent one as the empty string.
    pub(crate) fn invalid_text(&mut self, at: FieldPath<'_>, detail: &str) {
        self.causes
            .push(Cause::invalid(&at.path(), &json!(at.text()), detail));
    }

    /// The message shows another value than that of the field.
    pub(crate) fn invalid_value(&mut self, at: FieldPath<'_>, value: &Value, detail: &str) {
        self.causes.push(Cause::invalid(&at.path(), value, detail));
    }

    /// The message shows text that the caller has formatted, where Go's order of fields differs
    /// from that of JSON.
    pub(crate) fn invalid_as(&mut self, at: FieldPath<'_>, shown: &str, detail: &str) {
        let mut cause = Cause::invalid(&at.path(), &Value::Null, detail);
        cause.message = format!("Invalid value: {shown}: {detail}");
        self.causes.push(cause);
    }

    pub(crate) fn forbidden(&mut self, at: FieldPath<'_>, detail: &str) {
        self.causes.push(Cause::forbidden(&at.path(), detail));
    }

    pub(crate) fn duplicate(&mut self, at: FieldPath<'_>) {
        self.causes.push(Cause::duplicate(&at.path(), at.value()));
    }

    pub(crate) fn duplicate_value(&mut self, at: FieldPath<'_>, value: &Value) {
        self.causes.push(Cause::duplicate(&at.path(), value));
    }

    pub(crate) fn not_found(&mut self, at: FieldPath<'_>, detail: &str) {
        let kind = CauseKind::FieldValueNotFound;
        let value = json!(at.text());
        self.causes
            .push(Cause::new(kind, &at.path(), Some(&value), detail));
    }

    pub(crate) fn too_long(&mut self, path: &str, longest: usize) {
        let kind = CauseKind::FieldValueTooLong;
        let detail = format!("may not be more than {longest} bytes");
        self.causes.push(Cause::new(kind, path, None, &detail));
    }

    pub(crate) fn too_many(&mut self, at: FieldPath<'_>, most: usize) {
        let kind = CauseKind::FieldValueTooMany;
        let detail = format!("must have at most {most} items");
        let value = json!(at.len());
        self.causes
            .push(Cause::new(kind, &at.path(), Some(&value), &detail));
    }

    pub(crate) fn unsupported(&mut self, at: FieldPath<'_>, supported: &[&str]) {
        self.causes.push(Cause::not_supported(
            &at.path(),
            &json!(at.text()),
            supported,
        ));
    }

    pub(crate) fn add(&mut self, cause: Cause) {
        self.causes.push(cause);
    }

    /// Reports each problem with a string field.
    pub(crate) fn problems(&mut self, at: FieldPath<'_>, problems: Vec<String>) {
        for problem in problems {
            self.invalid_text(at, &problem);
        }
    }

    /// Requires a string field to be one of the supported values.
    pub(crate) fn one_of(&mut self, at: FieldPath<'_>, supported: &[&str]) {
        match at.text() {
            "" => self.required(at, ""),
            text if supported.contains(&text) => {}
            _ => self.unsupported(at, supported),
        }
    }

    pub(crate) fn non_negative(&mut self, at: FieldPath<'_>) {
        if at.number().is_some_and(|number| number < 0) {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    pub(crate) fn immutable(&mut self, at: FieldPath<'_>, old: &Value) {
        if at.value() != old {
            self.invalid(at, "field is immutable");
        }
    }
}
