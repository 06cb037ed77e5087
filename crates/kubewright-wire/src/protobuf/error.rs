//! What can be wrong with a message in protobuf.

use kubewright_core::Kind;

/// A message that is not what its type says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// It does not begin as Kubernetes' protobuf does.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Magic,
    /// It names a kind that is not sent in protobuf.
    #[error("{0} is not read from protobuf; send JSON")]
    Kind(Box<Kind>),
    /// It ends too early.
    #[error("unexpected EOF")]
    Truncated,
    /// A field is of a kind that does not exist.
    #[error("proto: illegal wireType {0}")]
    WireType(u64),
    /// Text that is none.
    #[error("proto: text that is no UTF-8")]
    Utf8,
    /// A time that no calendar has.
    #[error("proto: {0} seconds are no time")]
    Time(i64),
    /// A part in JSON that is none.
    #[error("proto: a raw part is no JSON")]
    Raw,
    /// Messages in messages without an end.
    #[error("proto: messages are nested too deeply")]
    Deep,
    /// A field that is sent as something else than its type.
    #[error("proto: a field is not of the type that its kind has for it")]
    Mismatch,
    /// A field that the message does not have. It would be lost.
    #[error("{0}")]
    UnknownField(Box<UnknownField>),
    /// The object does not have the shape that was expected.
    #[error("{0}")]
    Unexpected(String),
}

/// Where a message has a field that its type does not have.
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
    /// The same error, seen from the message that has the failed part in `field`.
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
