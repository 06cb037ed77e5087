//! Schemas for fields of custom resources whose Kubernetes types do not bring a good one.

mod conditions;
mod core_type;
mod probe;

pub use conditions::conditions;
pub use core_type::{core, int_or_string};
