use std::fmt;

use crate::protobuf::ProtobufError;

/// A record that could not be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The bytes are not a JSON object.
    #[error("read an object as JSON: the bytes do not parse")]
    Parse(#[source] serde_json::Error),
    /// The bytes are not an object in protobuf.
    #[error("read an object as protobuf: the bytes do not parse")]
    Protobuf(#[source] ProtobufError),
    /// The object is larger than a record can be.
    #[error(
        "store an object of {bytes} encoded bytes: the largest is {}",
        u32::MAX
    )]
    TooLarge {
        /// How long the record would have become.
        bytes: usize,
    },
    /// Only the metadata of the object was read.
    #[error(
        "decode a stored object: its bytes could not be read whole or its transform failed, so only \
         its metadata is kept; objects that are larger than the reader allows or nested deeper \
         than 127 levels cannot be used"
    )]
    Stub,
    /// The object is larger than the reader allows, and its beginning does not say which it is.
    #[error("read an object: it is larger than the {read} bytes that are read of one")]
    Oversized {
        /// How many bytes were read of it.
        read: usize,
    },
    /// The function that changes objects before they are stored made nothing of this one.
    #[error("change an object before it is stored: {0}")]
    Transform(String),
    /// The object does not have the shape that was asked for.
    #[error("decode a stored object: {0}")]
    Decode(String),
}

impl serde::de::Error for RecordError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Decode(message.to_string())
    }
}
