//! Flat records: one object as one immutable run of bytes, several times smaller than its JSON,
//! which is decoded only when it is read.
//!
//! An [`Encoder`] creates a [`Record`] directly from the bytes of a list or watch. A node is a tag
//! byte (three bits of type, five of value) and the data of its type; objects and arrays have their
//! length, so that a reader can skip them. Field names are ids of one dictionary per process.
//! `metadata.managedFields` is replaced by a hash of one manager's field set ([`FieldHash`]). A
//! [`FieldTree`] limits a record to the fields that are read.

mod decode;
mod dictionary;
mod encode;
mod error;
mod field_hash;
mod field_tree;
mod flat;
mod metadata;
mod names;
mod node;
mod options;
mod probe;
mod protobuf;
mod stub;
mod words;
mod writer;

pub use encode::Encoder;
pub use error::RecordError;
pub use field_hash::FieldHash;
pub use field_tree::FieldTree;
pub use flat::Record;
pub use metadata::Labels;
pub use node::{Array, Node, Object};
pub use options::EncoderOptions;
