//! What the crate promises as a whole.

mod apply;
mod fields;
mod schema;
mod versions;
