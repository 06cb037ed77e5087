//! Kubernetes' protobuf, which is read and never written.
//!
//! One table ([`Layouts`]) has the messages of Kubernetes' own kinds, the JSON names of their fields,
//! and which fields JSON omits. Serde reads an object of an API server as the JSON that it would
//! have sent ([`ProtobufObject`]); the body of a Go client becomes the value that it would have sent
//! as JSON ([`from_protobuf`]).

mod body;
mod bytes;
mod content;
mod envelope;
mod error;
mod layout;
mod message;
mod object;
mod special;
mod value;

pub use body::from_protobuf;
pub(crate) use bytes::{Fields, Wire};
pub use envelope::Envelope;
pub use error::{ProtobufError, UnknownField};
pub use layout::{Layout, Layouts};
pub(crate) use message::Buffers;
pub use object::ProtobufObject;
