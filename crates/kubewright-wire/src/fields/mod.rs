//! Sets of fields of an object, as `metadata.managedFields` records who owns what.

mod algebra;
mod element;
mod json;
mod set;

pub(crate) use element::compare;
pub use element::{KeyValue, Path, PathElement};
pub use json::ParseFieldsError;
pub use set::FieldSet;
pub(crate) use set::Node;
