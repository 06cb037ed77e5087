//! Changes of a CustomResourceDefinition that stored objects may not survive.

mod definition;
mod schema;
mod unsafe_change;

pub use definition::unsafe_changes;
pub use unsafe_change::{Hazard, UnsafeChange};
