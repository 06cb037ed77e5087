//! What the crate promises as a whole.

mod apply;
mod fields;
mod robust;
mod schema;
mod versions;
