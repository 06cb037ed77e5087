//! The kubelet of nodes that are only objects: says that nodes are ready, and of their Pods what
//! a kubelet would say if containers ran.
//!
//! Pods run at once, restart when an image changes, and end as soon as they are told to. Probes
//! count as passed, and no container ends by itself but those of Jobs. What else may become of a
//! Pod is said by orders: it is held, fails, crashes, completes, is never ready, or lingers.

mod addresses;
mod containers;
mod heartbeat;
mod node_status;
mod pod_conditions;
mod pod_fate;
mod pod_status;
mod report;
#[cfg(test)]
mod test_pod;

pub(super) use heartbeat::{Heartbeats, LEASE_NAMESPACE};
pub(super) use report::Kubelet;
