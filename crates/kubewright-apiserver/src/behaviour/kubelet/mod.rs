//! The kubelet of nodes that are only objects: says that nodes are ready, and of their Pods what
//! a kubelet would say if containers ran.
//!
//! Pods run at once, restart when an image changes, and end as soon as they are told to. No
//! probe is asked, and no container ends by itself but those of Jobs.

mod addresses;
mod containers;
mod node_status;
mod pod_status;
mod report;

pub(super) use report::Kubelet;
