//! What runs on top of the API server: controllers, scheduler, kubelet, nodes; the assembled cluster.
//!
//! Each follows the log, keeps an index of what concerns it, and does one piece of work at a time
//! through the server's own door under the name that Kubernetes gives it. Nothing polls: a
//! controller that has nothing to do waits for the next write or for its next deadline, so that
//! paused time can jump. What is lost with the log is read again from a snapshot.
//!
//! Not there yet: StatefulSets, DaemonSets, Jobs and CronJobs, what Pods only prefer of their
//! place, preemption, probes.

mod accounts;
mod budget;
mod claim;
mod client;
mod cluster;
mod controller;
mod deployment;
mod endpoints;
mod events;
mod garbage;
mod kubelet;
mod namespaces;
mod node;
mod node_health;
mod node_taints;
mod options;
mod orders;
mod owned;
mod pod_cleanup;
mod portion;
mod replica_set;
mod resource_quota;
mod role_aggregation;
mod run;
mod scheduler;
mod selection;
mod taint_eviction;
mod view;
mod work;

use client::Client;
pub use cluster::Cluster;
use controller::{Controller, Event, Step};
use work::Work;

pub use node::node;
pub use options::{ControllerName, Controllers};
pub use orders::{NodeControl, PodControl, PodFate, PodSelector};
