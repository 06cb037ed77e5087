//! SidecarSet on a cluster: embedded, or real with `KUBEWRIGHT_TEST_CLUSTER=real`.

mod absence;
mod bad_input;
mod certificates;
mod faults;
mod flow;
mod injection;
mod load;
mod policies;
mod program;
mod refusals;
mod revisions;
mod roll_out;
mod rules;
mod samples;
mod steps;
mod versions;
mod world;

/// That of the program.
#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;
