//! The operator as one value, and its run: started, running, stopped.

mod bind_address;
mod builder;
mod cache_transforms;
mod checks;
mod client_stack;
mod command;
mod command_options;
mod component;
mod description;
mod election;
mod entry_points;
mod flags;
mod log;
mod names;
mod policies;
mod readiness;
mod reaper;
mod run_options;
mod running;
mod start;
mod task;
mod task_group;
mod transforms;
mod without_webhooks;

pub use builder::Operator;
pub use election::{ElectionOptions, LeaderElection};
pub use run_options::RunOptions;
pub use running::Running;
pub use task::TaskContext;
