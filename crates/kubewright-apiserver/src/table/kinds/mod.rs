//! The columns of Kubernetes' own kinds, one file per field of work
//! (k8s.io/kubernetes/pkg/printers/internalversion).

mod access;
mod cluster;
mod config;
mod network;
mod node;
mod pod;
mod select;
mod storage;
mod workload;

pub(super) use pod::completion;
pub(super) use select::{columns, is_plain};
