//! The controller framework: a control loop over the store's changes, its work queue, and a client
//! that writes through the API server.
//!
//! A controller implements [`ControlLoop`]. [`run_loop`] feeds it every change of the store in
//! order and calls it for one step at a time. Nothing polls: a loop that has nothing to do waits
//! for the next change or for its next deadline, so that paused time can jump. A loop that has
//! fallen behind the store's log starts again from a snapshot.

mod claim;
mod client;
mod conditions;
mod control_loop;
mod event;
mod event_recorder;
mod fields;
mod int_or_percent;
mod owner_index;
mod pods_by_node;
mod resources;
mod run_loop;
mod selector;
mod work_queue;

pub(crate) use claim::Claim;
pub(crate) use client::{Client, DeleteOptions, Identity, is_namespace_terminating};
pub(crate) use conditions::{condition, is_true, with_condition};
pub(crate) use control_loop::{ControlLoop, ObjectChange, Step};
pub(crate) use event::NewEvent;
pub(crate) use fields::{
    generation, has_ended, items, node_name, null_if_zero, number, status_patch, text,
};
pub(crate) use int_or_percent::{Rounding, int_or_percent};
pub(crate) use owner_index::{OwnerIndex, controller_of};
pub(crate) use pods_by_node::PodsByNode;
pub(crate) use resources::{
    CLUSTER_ROLES, CONFIG_MAPS, DEPLOYMENTS, ENDPOINT_SLICES, LEASES, NAMESPACES, NODES,
    POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS, RESOURCE_QUOTAS, SERVICE_ACCOUNTS, SERVICES,
    resource_of,
};
pub(crate) use run_loop::run_loop;
pub(crate) use selector::{label_selector, plain_selector, selects};
pub(crate) use work_queue::WorkQueue;
