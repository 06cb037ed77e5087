//! What the crate promises as a whole.

mod fields;
mod schema;
