//! The scheduler: binds Pods to nodes.
//!
//! It filters nodes by node selector, required node affinity, taints, cordons, the number of Pods,
//! requested resources, required Pod affinity and anti-affinity, and required topology spread. Of
//! the nodes that are left it takes the one with the fewest Pods, then the first by name. Preferred
//! constraints and preemption are not implemented.

mod controller;
mod filter;
mod filter_failure;
mod labels;
mod node_affinity;
mod node_facts;
mod placed_pod;
mod pod_requirements;
mod pod_term;
mod resource_amounts;
mod topology;
mod topology_spread;

pub(crate) use controller::Scheduler;
pub(crate) use node_facts::NodeFacts;
pub(crate) use pod_requirements::PodRequirements;
