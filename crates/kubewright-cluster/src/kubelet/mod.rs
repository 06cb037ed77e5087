//! The simulated kubelets: report the status of nodes and their Pods as kubelets do, without
//! running containers.
//!
//! Pods run at once, restart when an image changes, and end as soon as they are deleted. Probes
//! count as passed, and no container exits by itself but those of Jobs. [`PodControl`] sets another
//! behavior: a Pod is held, fails, crashes, completes, is never ready, or ignores its termination.

mod addresses;
mod container_status;
mod control;
mod controller;
mod heartbeat;
mod node_status;
mod pod_behavior;
mod pod_conditions;
mod pod_context;
mod pod_selector;
mod pod_status;
mod settings;
#[cfg(test)]
mod test_pod;

pub use control::{NodeControl, PodControl};
pub(crate) use controller::Kubelet;
pub(crate) use heartbeat::{Heartbeat, LEASE_NAMESPACE};
pub use pod_selector::PodSelector;
pub use settings::PodBehavior;
pub(crate) use settings::SharedKubeletSettings;
