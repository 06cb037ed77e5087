//! The errors of the scanners.

use crate::protobuf::ProtobufError;

/// An invalid stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The metadata of a list is larger than the reader allows an object to be.
    #[error("read the metadata of a list: it has more than {limit} bytes")]
    TooLarge {
        /// The largest size.
        limit: usize,
    },
    /// The bytes are not a list of objects.
    #[error("read a list at byte {at}: expected {expected}")]
    NotAList {
        /// The offset in the stream.
        at: usize,
        /// The expected token.
        expected: &'static str,
    },
    /// The stream ended within the list.
    #[error("read a list: it ends after {items} items, before its own end")]
    Cut {
        /// The number of complete items.
        items: usize,
    },
    /// The metadata of a list or a frame of a watch cannot be parsed.
    #[error("read {what}: the bytes do not parse")]
    Parse {
        /// What was read.
        what: &'static str,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// A list or a frame of a watch in protobuf cannot be parsed.
    #[error("read {what} in protobuf: the bytes do not parse")]
    Protobuf {
        /// What was read.
        what: &'static str,
        /// The cause.
        #[source]
        source: ProtobufError,
    },
}
