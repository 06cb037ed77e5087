//! The built-in admission plugins, one file each.

mod default_toleration_seconds;
mod limit_ranger;
mod namespace_lifecycle;
mod pod_security;
mod priority;
mod registry;
pub(super) mod resource_quota;
mod service_account;
mod taint_nodes_by_condition;

pub(crate) use namespace_lifecycle::check_namespace;
pub(crate) use priority::system_classes;
pub(super) use registry::PLUGINS;
