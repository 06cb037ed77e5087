//! What stands between a request and the store besides the rules of its kind: the plugins that a
//! server of Kubernetes has by default and that act on objects of its own kinds (each may change a
//! new or changed object, then each may refuse it), and the webhooks.

mod attributes;
mod chain;
mod limit_range;
mod pod_security;
mod priority;
mod quota;
mod service_account;
mod taint_nodes;
mod toleration_seconds;
pub(crate) mod webhook;

pub(crate) use attributes::Attributes;
pub(crate) use chain::{mutate, validate};
pub(crate) use priority::system_classes;
pub(crate) use quota::quota_usage;
