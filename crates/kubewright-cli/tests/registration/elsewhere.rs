//! The operator is built in another file, which this project does not have.

mod build;

pub use build::build_operator;
