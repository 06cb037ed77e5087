//! Pod.

mod binding;
mod columns;
mod create;
mod defaults;
mod delete;
mod kind;
mod quota;
mod status;
mod update;
mod validation;
mod warnings;
#[cfg(test)]
mod warnings_tests;

pub use binding::bind;
pub use kind::POD;
