//! Tests over the public interface of the crate.

mod apply;
mod fields;
mod protobuf;
mod requests;
mod robust;
mod schema;
mod versions;
