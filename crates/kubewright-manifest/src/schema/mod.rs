//! From the schema of a Rust type to the schema of a CustomResourceDefinition.

mod builtin;
mod core_type;
mod embedded;
mod inline;
mod special;
mod type_name;

pub use core_type::core_schema;
pub(crate) use embedded::complete;
pub use inline::inline_references;
