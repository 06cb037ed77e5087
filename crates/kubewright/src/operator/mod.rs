//! The operator as one value, and its life: started, running, stopped.

mod command;
mod definition;
mod running;
mod task;

pub use definition::Operator;
pub use running::{RunOptions, Running};
pub use task::TaskContext;
