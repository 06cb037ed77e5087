//! Objects of a Rust type, decoded from an informer's records.
//!
//! A [`View`] decodes an object when it is read. Readers share a decoded object for as long as one
//! of them holds it, and recently used objects stay decoded within a budget of bytes
//! ([`MemoryBudget`](crate::informer::MemoryBudget)). The type can be the kind's own type, a struct
//! with some of its fields, or [`Metadata`].

mod decoded_cache;
mod decoder;
mod list;
mod logged_errors;
mod metadata;
mod view;

pub use decoder::DecodeError;
pub use list::{Iter, List};
pub use metadata::Metadata;
pub use view::View;
