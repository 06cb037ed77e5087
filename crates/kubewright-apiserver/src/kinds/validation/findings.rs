use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use super::At;

/// What is wrong with an object, in the order it was found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    causes: Vec<Cause>,
}

impl Findings {
    pub(super) fn into_causes(self) -> Vec<Cause> {
        self.causes
    }

    /// How much was found so far.
    pub(super) fn count(&self) -> usize {
        self.causes.len()
    }

    pub(super) fn required(&mut self, at: At<'_>, detail: &str) {
        self.causes.push(Cause::required(&at.path(), detail));
    }

    /// The value is named as it stands there.
    pub(super) fn invalid(&mut self, at: At<'_>, detail: &str) {
        self.causes
            .push(Cause::invalid(&at.path(), at.value(), detail));
    }

    /// Text that may be absent: absent text is empty.
    pub(super) fn invalid_text(&mut self, at: At<'_>, detail: &str) {
        self.causes
            .push(Cause::invalid(&at.path(), &json!(at.text()), detail));
    }

    /// Another value is named than the one that stands there.
    pub(super) fn invalid_value(&mut self, at: At<'_>, value: &Value, detail: &str) {
        self.causes.push(Cause::invalid(&at.path(), value, detail));
    }

    /// The same, where Go writes the value in an order of its own.
    pub(super) fn invalid_as(&mut self, at: At<'_>, shown: &str, detail: &str) {
        let mut cause = Cause::invalid(&at.path(), &Value::Null, detail);
        cause.message = format!("Invalid value: {shown}: {detail}");
        self.causes.push(cause);
    }

    pub(super) fn forbidden(&mut self, at: At<'_>, detail: &str) {
        self.causes.push(Cause::forbidden(&at.path(), detail));
    }

    pub(super) fn duplicate(&mut self, at: At<'_>) {
        self.causes.push(Cause::duplicate(&at.path(), at.value()));
    }

    pub(super) fn duplicate_value(&mut self, at: At<'_>, value: &Value) {
        self.causes.push(Cause::duplicate(&at.path(), value));
    }

    pub(super) fn not_found(&mut self, at: At<'_>, detail: &str) {
        let kind = CauseKind::FieldValueNotFound;
        let value = json!(at.text());
        self.causes
            .push(Cause::new(kind, &at.path(), Some(&value), detail));
    }

    pub(super) fn too_long(&mut self, path: &str, longest: usize) {
        let kind = CauseKind::FieldValueTooLong;
        let detail = format!("may not be more than {longest} bytes");
        self.causes.push(Cause::new(kind, path, None, &detail));
    }

    pub(super) fn too_many(&mut self, at: At<'_>, most: usize) {
        let kind = CauseKind::FieldValueTooMany;
        let detail = format!("must have at most {most} items");
        let value = json!(at.len());
        self.causes
            .push(Cause::new(kind, &at.path(), Some(&value), &detail));
    }

    pub(super) fn unsupported(&mut self, at: At<'_>, supported: &[&str]) {
        self.causes.push(Cause::not_supported(
            &at.path(),
            &json!(at.text()),
            supported,
        ));
    }

    pub(super) fn add(&mut self, cause: Cause) {
        self.causes.push(cause);
    }

    /// Each of the problems with a text.
    pub(super) fn problems(&mut self, at: At<'_>, problems: Vec<String>) {
        for problem in problems {
            self.invalid_text(at, &problem);
        }
    }

    /// A text that must be one of a few.
    pub(super) fn one_of(&mut self, at: At<'_>, supported: &[&str]) {
        match at.text() {
            "" => self.required(at, ""),
            text if supported.contains(&text) => {}
            _ => self.unsupported(at, supported),
        }
    }

    pub(super) fn non_negative(&mut self, at: At<'_>) {
        if at.number().is_some_and(|number| number < 0) {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    pub(super) fn immutable(&mut self, at: At<'_>, old: &Value) {
        if at.value() != old {
            self.invalid(at, "field is immutable");
        }
    }
}
