//! Bodies in protobuf, as Go clients send them: read into the same values as JSON, by a table of
//! the messages of Kubernetes' own kinds. Nothing is written in protobuf.

mod bytes;
mod decode;
mod message;
mod special;

pub use decode::{ProtobufError, from_protobuf};
pub use message::{Message, MessageField, Messages, Shape};
