//! Schemas for fields of custom resources whose Kubernetes types have no suitable one.

mod conditions;
mod core_type;
mod probe;

pub use conditions::conditions;
pub use core_type::{core, int_or_string};
