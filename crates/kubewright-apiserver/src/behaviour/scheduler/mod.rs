//! The scheduler: which node a Pod goes to.
//!
//! Node selector, required node affinity, taints, cordons and the number of Pods are looked at;
//! of the nodes that fit, the one with the fewest Pods is taken, then the first by name.

mod affinity;
mod assign;
mod fit;
mod node_facts;
mod pod_needs;

pub(super) use assign::Scheduler;
