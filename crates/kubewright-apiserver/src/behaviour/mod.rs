//! What a cluster does by itself: small controllers over the store's changes.
//!
//! Each follows the log, keeps an index of what concerns it, and does one piece of work at a time
//! through the server's own door under the name that Kubernetes gives it. Nothing polls: a
//! controller that has nothing to do waits for the next write or for its next deadline, so that
//! paused time can jump. What is lost with the log is read again from a snapshot.
//!
//! Not there yet: events, node heartbeats and leases, eviction by NoExecute taints, resources
//! other than the number of Pods, Jobs and other workloads, probes.

mod accounts;
mod cluster;
mod controller;
mod garbage;
mod kubelet;
mod namespaces;
mod node;
mod node_taints;
mod options;
mod pod_cleanup;
mod run;
mod scheduler;
mod view;
mod work;

use cluster::Cluster;
use controller::{Controller, Event, Step};
use work::Work;

pub use node::node;
pub use options::{Behaviour, Behaviours};
