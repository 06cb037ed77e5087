//! What stands between a request and the store besides the rules of its kind: the plugins that a
//! server of Kubernetes has by default and that act on objects of its own kinds (each may change a
//! new or changed object, then each may refuse it), the policies, and the webhooks.
//!
//! `chain` has their order: plugins mutate, `reinvoke` has policies and webhooks do so, plugins
//! validate, policies and webhooks are asked, the quota counts.

mod attributes;
mod chain;
mod configured;
mod json_patch;
mod limit_range;
pub(crate) mod matching;
mod pod_security;
pub(crate) mod policy;
mod priority;
mod quota;
mod quota_scope;
mod reinvoke;
mod service_account;
mod taint_nodes;
mod toleration_seconds;
pub(crate) mod webhook;

pub(crate) use attributes::Attributes;
pub(crate) use chain::{ask, charge, mutate, validate};
pub(crate) use configured::{configuration_refusal, is_asked};
pub(crate) use priority::system_classes;
pub(crate) use quota::quota_usage;
pub(crate) use quota_scope::is_in_scope;
pub(crate) use reinvoke::{Between, Change, change};
