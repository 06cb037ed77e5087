//! Kubernetes' protobuf, which is read and never written.
//!
//! One table ([`Layouts`]) knows the messages of Kubernetes' own kinds, the names that JSON has for
//! their fields, and what JSON leaves out. Objects that an API server sends are read by serde as the
//! JSON that it would have sent ([`ProtobufObject`]); bodies that Go clients send become the value
//! that they would have sent as JSON ([`from_protobuf`]).

mod access;
mod body;
mod bytes;
mod envelope;
mod error;
mod layout;
mod object;
mod special;
mod value;

pub use body::from_protobuf;
pub(crate) use bytes::{Fields, Wire};
pub use envelope::Envelope;
pub use error::{ProtobufError, UnknownField};
pub use layout::{Layout, Layouts};
pub(crate) use object::Buffers;
pub use object::ProtobufObject;
