//! The scheduler: which node a Pod goes to.
//!
//! Node selector, required node affinity, taints, cordons, the number of Pods and what they ask of
//! each resource, required affinity between Pods and how they must be spread are looked at; of the
//! nodes that fit, the one with the fewest Pods is taken, then the first by name.

mod affinity;
mod amounts;
mod assign;
mod fit;
mod neighbour;
mod node_facts;
mod pod_needs;
mod pod_term;
mod spread;
mod surroundings;

pub(super) use assign::Scheduler;
pub(super) use node_facts::NodeFacts;
pub(super) use pod_needs::PodNeeds;
