//! Event.

mod columns;
mod kind;
mod validation;

pub(crate) use columns::COLUMNS;
pub use kind::EVENT;
pub(crate) use validation::validate_stored;
