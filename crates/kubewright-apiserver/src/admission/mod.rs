//! Admission: the plugins between a request and the store that change or deny objects.
//!
//! `chain` has their order; `plugins` are the built-in ones; `policy` and `webhook` are configured
//! by stored objects, and `matching` decides which requests those see.

mod attributes;
mod chain;
mod context;
mod json_patch;
mod matching;
mod plugin;
mod plugins;
mod policy;
mod round;
mod webhook;

pub(crate) use attributes::{AdmissionAttributes, OperationOptions};
pub(crate) use chain::AdmissionChain;
pub(crate) use context::AdmissionContext;
pub use plugin::{AdmissionPlugin, AdmissionPlugins, UnknownAdmissionPlugin};
pub(crate) use plugins::{check_namespace, system_classes};
