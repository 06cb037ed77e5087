//! The typed edge: objects of a Rust type from an informer's records.
//!
//! A [`View`] decodes when it is asked. An object that somebody holds is shared, and lately used
//! ones are kept as long as a [`Budget`] of bytes lets them. The type may be the kind's own, a
//! struct with some of its fields, or [`Metadata`].

mod budget;
mod complaints;
mod decoded;
mod list;
mod metadata;
mod view;

pub use budget::Budget;
pub use list::{Iter, List};
pub use metadata::Metadata;
pub use view::{DecodeError, View};
