//! SidecarSet on a cluster: the embedded one, or a real one with `KUBEWRIGHT_TEST_CLUSTER=real`.

mod certificates;
mod faults;
mod fixtures;
mod injection;
mod lifecycle;
mod load;
mod operator_down;
mod policies;
mod precedence;
mod program;
mod revisions;
mod roll_out;
mod samples;
mod unexpected_requests;
mod validation;
mod validation_rules;
mod versions;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;
