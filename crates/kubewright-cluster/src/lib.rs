//! What runs on top of the API server: controllers, scheduler, kubelet, nodes; the assembled cluster.
//!
//! Every controller is a control loop over the changes of the store. It keeps an index of the
//! objects that it needs, processes one key of its work queue at a time, and writes through the
//! API server as the user that it is in Kubernetes.
//!
//! - `framework`: the control loop, its work queue and its client.
//! - `controllers`: the controllers of kube-controller-manager, one module each.
//! - `scheduler` and `kubelet`: binding Pods to nodes, and the status of simulated nodes and Pods.
//! - `controller_manager`: the table of all of them, and which are enabled.
//!
//! StatefulSets, DaemonSets, Jobs and CronJobs have no controller yet. Preferred scheduling
//! constraints, preemption and probes are not implemented.

mod cluster;
mod controller_manager;
mod controllers;
mod framework;
mod kubelet;
mod node;
mod scheduler;

pub use cluster::Cluster;
pub use controller_manager::{ControllerName, Controllers, UnknownController};
pub use kubelet::{NodeControl, PodBehavior, PodControl, PodSelector};
pub use node::node;
