//! Sets of fields of an object, which `metadata.managedFields` has for each manager.

mod algebra;
mod element;
mod json;
mod set;

pub(crate) use element::compare;
pub use element::{KeyValue, Path, PathElement};
pub use json::ParseFieldsError;
pub use set::FieldSet;
pub(crate) use set::Node;
