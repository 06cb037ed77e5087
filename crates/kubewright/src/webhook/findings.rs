use kubewright_wire::status::{Cause, CauseKind};
use serde::Serialize;
use serde_json::Value;

/// What a validator found: everything at once, with the path of each field.
///
/// Without a fault the request goes on; the warnings are shown either way.
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
    /// A field must be given; `why` may be empty.
    pub fn required(&mut self, path: impl AsRef<str>, why: &str) {
        self.causes.push(Cause::required(path.as_ref(), why));
    }

    /// A field has a value that breaks a rule.
    pub fn invalid(&mut self, path: impl AsRef<str>, value: impl Serialize, why: &str) {
        self.causes
            .push(Cause::invalid(path.as_ref(), &shown(value), why));
    }

    /// A field may not be given, or not be changed.
    pub fn forbidden(&mut self, path: impl AsRef<str>, why: &str) {
        self.causes.push(Cause::forbidden(path.as_ref(), why));
    }

    /// A value stands twice where it may stand once.
    pub fn duplicate(&mut self, path: impl AsRef<str>, value: impl Serialize) {
        self.causes
            .push(Cause::duplicate(path.as_ref(), &shown(value)));
    }

    /// A value is not among those allowed.
    pub fn unsupported(&mut self, path: impl AsRef<str>, value: impl Serialize, allowed: &[&str]) {
        self.causes
            .push(Cause::not_supported(path.as_ref(), &shown(value), allowed));
    }

    /// A value names something that is not there.
    pub fn not_found(&mut self, path: impl AsRef<str>, value: impl Serialize) {
        let kind = CauseKind::FieldValueNotFound;
        self.causes
            .push(Cause::new(kind, path.as_ref(), Some(&shown(value)), ""));
    }

    /// Tells the client something that is no fault.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Whether no fault was found.
    pub fn is_valid(&self) -> bool {
        self.causes.is_empty()
    }

    /// The faults as clients read them: the path, the kind of fault, the value and the reason.
    pub fn faults(&self) -> Vec<String> {
        self.causes.iter().map(Cause::with_field).collect()
    }
}

fn shown(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
