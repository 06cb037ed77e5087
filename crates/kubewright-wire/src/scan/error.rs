use crate::protobuf::ProtobufError;

/// A stream that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The metadata of a list is larger than the reader allows an object to be.
    #[error("read the metadata of a list: it has more than {limit} bytes")]
    TooLarge {
        /// The most that is allowed.
        limit: usize,
    },
    /// The bytes are not a list of objects.
    #[error("read a list at byte {at}: expected {expected}")]
    NotAList {
        /// Where in the stream.
        at: usize,
        /// What should have stood there.
        expected: &'static str,
    },
    /// The stream ended within the list.
    #[error("read a list: it ends after {items} items, before its own end")]
    Cut {
        /// How many items were whole.
        items: usize,
    },
    /// The list's own metadata, or a watch's frame, does not parse.
    #[error("read {what}: the bytes do not parse")]
    Parse {
        /// What was read.
        what: &'static str,
        /// Why it does not parse.
        #[source]
        source: serde_json::Error,
    },
    /// A list in protobuf, or a watch's frame, does not parse.
    #[error("read {what} in protobuf: the bytes do not parse")]
    Protobuf {
        /// What was read.
        what: &'static str,
        /// Why it does not parse.
        #[source]
        source: ProtobufError,
    },
}
