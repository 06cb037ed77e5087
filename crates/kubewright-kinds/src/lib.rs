//! What Kubernetes' own kinds are: defaults, validation, warnings, strategy, columns, as pure functions over values.

mod addresses;
pub mod admissionregistration;
pub mod apiextensions;
pub mod apiregistration;
pub mod apps;
pub mod authentication;
pub mod authorization;
pub mod autoscaling;
pub mod batch;
pub mod certificates;
mod claim_spec;
pub mod columns;
pub mod coordination;
pub mod core;
pub mod custom;
mod defaults_table;
pub mod discovery;
mod error_list;
pub mod events;
mod field_path;
pub mod flowcontrol;
pub mod groups;
mod int_or_percent;
pub mod json;
mod kind;
mod label_selector;
mod load_balancer;
pub mod networking;
pub mod node;
mod node_labels;
mod pod_spec;
pub mod policy;
pub mod quota;
pub mod rbac;
mod registry;
pub mod resource;
mod resource_list;
mod resource_table;
pub mod scheduling;
pub mod storage;
mod warning_list;
mod workload;

pub use core::{allocate_address, bind, validate_finalized};
pub use kind::{
    BuiltinKind, ControllerSupport, DeleteResponse, FinalizerRule, Generation, KeptMetadata,
    Permission, Persistence, Propagation, QuotaUsage, SelectableField, SelectorForm,
    StatusOnCreate, StatusStrategy, StorageEncoding, StoredAs,
};
pub use label_selector::{label_selector, plain_selector};
pub use pod_spec::{pod_resources, quality_of_service};
pub use rbac::aggregated_rules;
pub use registry::{KINDS, lookup, lookup_resource};
pub use resource_table::{GroupRow, ResourceRow, ResourceTable, SubresourceRow, resource_table};
