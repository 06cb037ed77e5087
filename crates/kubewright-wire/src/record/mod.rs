//! Flat records: one object as one immutable run of bytes, several times smaller than its JSON
//! and decoded only where somebody looks.
//!
//! A [`Record`] is made by an [`Encoder`] straight from the bytes of a list or watch. Its nodes
//! are a tag byte (three bits of type, five of value) followed by what the type needs; objects
//! and arrays carry their length, so that a reader skips what it does not want. Field names come
//! from one dictionary per process. `metadata.managedFields` is left out but for a hash of one
//! manager's own field set ([`FieldHash`]). A [`FieldTree`] narrows what is kept to the fields that
//! somebody reads.

mod decode;
mod dictionary;
mod encode;
mod error;
mod field_hash;
mod flat;
mod kept;
mod metadata;
mod names;
mod node;
mod probe;
mod protobuf;
mod stub;
mod words;
mod writer;

pub use encode::{Encoder, EncoderOptions};
pub use error::RecordError;
pub use field_hash::FieldHash;
pub use flat::Record;
pub use kept::FieldTree;
pub use metadata::Labels;
pub use node::{Array, Node, Object};
