//! The errors of reading protobuf.

use kubewright_core::Kind;

/// An invalid message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// It does not have the prefix of Kubernetes' protobuf.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Magic,
    /// Its kind has no layout.
    #[error("{0} is not read from protobuf; send JSON")]
    Kind(Box<Kind>),
    /// It is truncated.
    #[error("unexpected EOF")]
    Truncated,
    /// A field has an unknown wire type.
    #[error("proto: illegal wireType {0}")]
    WireType(u64),
    /// A text is not UTF-8.
    #[error("proto: a text is not valid UTF-8")]
    Utf8,
    /// A time is out of range.
    #[error("proto: {0} seconds are not a valid time")]
    Time(i64),
    /// An embedded JSON value is invalid.
    #[error("proto: an embedded value is not valid JSON")]
    Raw,
    /// Messages are nested too deeply.
    #[error("proto: messages are nested too deeply")]
    Deep,
    /// The wire type of a field does not match its type.
    #[error("proto: a field does not have the type that its kind declares")]
    Mismatch,
    /// A field is not in the layout, and would be dropped.
    #[error("{0}")]
    UnknownField(Box<UnknownField>),
    /// The object does not match the type that it is deserialized into.
    #[error("{0}")]
    Unexpected(String),
}

/// A field that is not in the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The JSON path of the message; empty for the object itself.
    pub path: String,
    /// The number of the field.
    pub number: u64,
}

impl std::fmt::Display for UnknownField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match self.path.as_str() {
            "" => "the object",
            path => path,
        };
        write!(
            f,
            "proto: unknown field number {} in {place}: the server does not know the field and \
             would drop its value; leave it out, or send it to a server that has it",
            self.number
        )
    }
}

impl ProtobufError {
    /// Prepends a field to the path of the error.
    pub(super) fn within(mut self, field: &str) -> Self {
        if let Self::UnknownField(unknown) = &mut self {
            let dot = if unknown.path.is_empty() { "" } else { "." };
            unknown.path = format!("{field}{dot}{}", unknown.path);
        }
        self
    }
}

impl serde::de::Error for ProtobufError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Unexpected(message.to_string())
    }
}
