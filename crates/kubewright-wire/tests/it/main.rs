//! What the crate promises as a whole.

mod apply;
mod fields;
mod protobuf;
mod robust;
mod schema;
mod versions;
