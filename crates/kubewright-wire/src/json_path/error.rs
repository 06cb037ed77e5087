//! The errors of parsing and evaluating paths.

/// A JSONPath that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the JSONPath {path:?}: {what} at byte {at}")]
pub struct JsonPathError {
    pub(super) path: String,
    pub(super) at: usize,
    pub(super) what: String,
}

/// A field path that cannot be parsed, with the message of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldPathError {
    /// It ends after a dot or within brackets.
    #[error("unexpected end of JSON path")]
    End,
    /// A name is neither after a dot nor in brackets.
    #[error("expected [ or . but got: {0}")]
    Separator(String),
    /// It has brackets where they are not allowed.
    #[error("array notation is not allowed")]
    ArrayNotation,
    /// The brackets contain something else than a quoted name.
    #[error("expected single quoted string but got {0}")]
    Unquoted(String),
    /// A quoted name has an unknown escape.
    #[error("invalid string literal: invalid escape char {0}")]
    Escape(String),
    /// A bracket is not closed.
    #[error("expected ] but got {0}")]
    Unclosed(String),
}

/// A JSONPath that cannot be evaluated for a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// An index, slice or filter is applied to another value than an array.
    #[error("a value is not an array")]
    NotAnArray,
    /// An index is out of bounds.
    #[error("index {index} is out of bounds of an array of length {length}")]
    OutOfBounds {
        /// The index.
        index: i64,
        /// The length of the array.
        length: usize,
    },
    /// A slice begins after its end.
    #[error("a slice begins after its end")]
    Reversed,
    /// The step of a slice is not positive.
    #[error("the step of a slice is not positive")]
    Step,
    /// An operand of a filter is not exactly one value.
    #[error("an operand of a filter is not exactly one value")]
    Operand,
    /// The operands of a filter cannot be compared.
    #[error("the operands of a filter have types that cannot be compared")]
    Incomparable,
    /// The path selects too many values.
    #[error("the path selects too many values")]
    TooMany,
}
