//! The operator is built in another file, which the test does not have.

mod build;

pub use build::build_operator;
