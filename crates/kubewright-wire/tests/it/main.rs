//! What the crate promises as a whole.

mod apply;
mod corpus;
mod fields;
mod protobuf;
mod robust;
mod schema;
mod versions;
