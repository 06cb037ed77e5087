//! The validation of sets: all errors are reported at once, each with its field.

mod conflicts;
mod container;
mod dns_label;
mod selector;
mod set;
mod strategy;

pub use set::{ValidationContext, check};
