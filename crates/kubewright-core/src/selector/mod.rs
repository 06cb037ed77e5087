//! Label and field selectors: their grammar, what they match, how they are written.

mod error;
mod field;
mod label;
mod object;

pub use error::ParseSelectorError;
pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelOperator, LabelRequirement, LabelSelector};
