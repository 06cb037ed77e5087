//! Kubernetes' protobuf, which is read and never written.
//!
//! Bodies that Go clients send become the same values as JSON, by a table of the messages of
//! Kubernetes' own kinds ([`from_protobuf`]). Objects that an API server sends are read by serde as
//! the JSON that it would have sent ([`ProtobufObject`]), by a leaner table ([`Layouts`]) that also
//! tells what JSON leaves out.

mod access;
mod bytes;
mod decode;
mod envelope;
mod layout;
mod message;
mod object;
mod special;
mod value;

pub(crate) use bytes::{Fields, Wire};
pub use decode::{ProtobufError, from_protobuf};
pub use envelope::Envelope;
pub use layout::{Layout, Layouts};
pub use message::{Message, MessageField, Messages, Shape};
pub(crate) use object::Buffers;
pub use object::ProtobufObject;
