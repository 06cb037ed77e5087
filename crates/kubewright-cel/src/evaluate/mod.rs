//! Evaluates a checked expression within a budget.

mod comprehensions;
mod evaluation;
mod select;

pub use evaluation::Variables;
pub(crate) use evaluation::{ComposedVariables, Evaluation};
