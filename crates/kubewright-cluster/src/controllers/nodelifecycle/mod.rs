//! The node lifecycle controller: nodes that send no heartbeat become unreachable, and taints
//! follow the conditions of nodes.

mod controller;
mod health;
mod taints;

pub(crate) use controller::NodeLifecycleController;
