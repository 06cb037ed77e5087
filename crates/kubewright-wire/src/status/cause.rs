//! Causes of a failed request: one per invalid field.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One error of a [`Status`](super::Status).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// The kind of error; none for causes that have only a message.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    pub kind: Option<CauseKind>,
    /// The message, without the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The path of the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CauseKind {
    /// A value refers to something that does not exist.
    FieldValueNotFound,
    /// A value is required.
    FieldValueRequired,
    /// A value is a duplicate.
    FieldValueDuplicate,
    /// A value is invalid.
    FieldValueInvalid,
    /// A value is not among those allowed.
    FieldValueNotSupported,
    /// A value may not be set.
    FieldValueForbidden,
    /// A value is too long.
    FieldValueTooLong,
    /// A list has too many items.
    FieldValueTooMany,
    /// A value is too short.
    FieldValueTooShort,
    /// A list has too few items.
    FieldValueTooFew,
    /// A value has the wrong type.
    FieldValueTypeInvalid,
    /// The validation failed.
    InternalError,
    /// Another manager owns the field.
    FieldManagerConflict,
    /// A revision is in the future.
    ResourceVersionTooLarge,
    /// A kind that is not in this list.
    #[serde(untagged)]
    Other(String),
}

impl CauseKind {
    /// The beginning of messages of this kind.
    fn phrase(&self) -> &str {
        match self {
            Self::FieldValueNotFound => "Not found",
            Self::FieldValueRequired => "Required value",
            Self::FieldValueDuplicate => "Duplicate value",
            Self::FieldValueInvalid | Self::FieldValueTypeInvalid => "Invalid value",
            Self::FieldValueNotSupported => "Unsupported value",
            Self::FieldValueForbidden => "Forbidden",
            Self::FieldValueTooLong => "Too long",
            Self::FieldValueTooMany => "Too many",
            Self::FieldValueTooShort => "Too short",
            Self::FieldValueTooFew => "Too few",
            Self::InternalError => "Internal error",
            Self::FieldManagerConflict | Self::ResourceVersionTooLarge => "Conflict",
            Self::Other(text) => text,
        }
    }

    fn shows_value(&self) -> bool {
        matches!(
            self,
            Self::FieldValueInvalid
                | Self::FieldValueTypeInvalid
                | Self::FieldValueNotSupported
                | Self::FieldValueNotFound
                | Self::FieldValueDuplicate
                | Self::FieldValueTooMany
                | Self::FieldValueTooFew
        )
    }
}

impl Cause {
    /// A cause of the given kind. The message contains the value for the kinds for which Kubernetes
    /// does: strings quoted, others as JSON.
    pub fn new(kind: CauseKind, field: &str, value: Option<&Value>, detail: &str) -> Self {
        let mut message = kind.phrase().to_owned();
        if let Some(value) = value.filter(|_| kind.shows_value()) {
            message.push_str(": ");
            match value {
                Value::String(text) => message.push_str(&quoted(text)),
                other => message.push_str(&other.to_string()),
            }
        }
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        Self {
            kind: Some(kind),
            message,
            field: field.to_owned(),
        }
    }

    /// `Required value`, with a detail that may be empty.
    pub fn required(field: &str, detail: &str) -> Self {
        Self::new(CauseKind::FieldValueRequired, field, None, detail)
    }

    /// `Invalid value: VALUE: DETAIL`.
    pub fn invalid(field: &str, value: &Value, detail: &str) -> Self {
        Self::new(CauseKind::FieldValueInvalid, field, Some(value), detail)
    }

    /// `Invalid value: VALUE: DETAIL`, with another kind than [`Cause::invalid`].
    pub fn type_invalid(field: &str, value: &Value, detail: &str) -> Self {
        Self::new(CauseKind::FieldValueTypeInvalid, field, Some(value), detail)
    }

    /// `Forbidden: DETAIL`.
    pub fn forbidden(field: &str, detail: &str) -> Self {
        Self::new(CauseKind::FieldValueForbidden, field, None, detail)
    }

    /// `Duplicate value: VALUE`.
    pub fn duplicate(field: &str, value: &Value) -> Self {
        Self::new(CauseKind::FieldValueDuplicate, field, Some(value), "")
    }

    /// `Unsupported value: VALUE: supported values: "A", "B"`.
    pub fn not_supported(field: &str, value: &Value, supported: &[&str]) -> Self {
        let names: Vec<String> = supported.iter().map(|name| quoted(name)).collect();
        let detail = if names.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", names.join(", "))
        };
        Self::new(
            CauseKind::FieldValueNotSupported,
            field,
            Some(value),
            &detail,
        )
    }

    /// The message with the field, as in the message of the Status.
    pub fn with_field(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }
}

/// The text in quotes, as Go's `%q` writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_control() && c < '\u{80}' => {
                out.push_str(&format!("\\x{:02x}", u32::from(c)));
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Cause;

    #[test]
    fn message_contains_the_value_as_in_kubernetes() {
        let message = |value| Cause::invalid("spec.a", &value, "no").message;
        assert_eq!(message(json!("A\n")), r#"Invalid value: "A\n": no"#);
        assert_eq!(message(json!(0)), "Invalid value: 0: no");
        assert_eq!(
            message(json!({"k": [1]})),
            r#"Invalid value: {"k":[1]}: no"#
        );
        assert_eq!(Cause::required("spec.a", "").message, "Required value");
    }

    #[test]
    fn message_of_an_unsupported_value_lists_the_supported_ones() {
        let cause = Cause::not_supported("dryRun", &json!(["X"]), &["All"]);
        assert_eq!(
            cause.with_field(),
            r#"dryRun: Unsupported value: ["X"]: supported values: "All""#
        );
    }
}
