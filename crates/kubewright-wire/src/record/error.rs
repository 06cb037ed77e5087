//! The errors of records.

use std::fmt;

use crate::protobuf::ProtobufError;

/// A record that could not be encoded or decoded.
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
        /// The length of the record.
        bytes: usize,
    },
    /// The record has only metadata.
    #[error(
        "decode a stored object: its bytes could not be read completely or its transform failed, \
         so only its metadata is stored; objects that are larger than the reader allows or nested \
         deeper than 127 levels cannot be used"
    )]
    Stub,
    /// The object is larger than the reader allows, and its beginning does not contain its metadata.
    #[error("read an object: it is larger than the {read} bytes that are read of one")]
    Oversized {
        /// The number of bytes that were read.
        read: usize,
    },
    /// The function that changes objects before they are stored failed.
    #[error("change an object before it is stored: {0}")]
    Transform(String),
    /// The object does not match the type that it is decoded into.
    #[error("decode a stored object: {0}")]
    Decode(String),
}

impl serde::de::Error for RecordError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Decode(message.to_string())
    }
}
