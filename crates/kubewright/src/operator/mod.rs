//! The operator as one value, and its life: started, running, stopped.

mod cache;
mod client_stack;
mod command;
mod definition;
mod election;
mod flags;
mod group;
mod log;
mod part;
mod policies;
mod reaper;
mod running;
mod serving;
mod start;
mod task;
mod webhooks;

pub use definition::Operator;
pub use election::LeaderElection;
pub use running::{ElectionOptions, RunOptions, Running};
pub use task::TaskContext;
