//! What is wrong with an object of one of Kubernetes' own kinds, in Kubernetes' words, at its
//! places and in its order (`pkg/apis/*/validation` of k8s.io/kubernetes).

mod access;
mod budget;
mod check;
mod deployment;
mod endpoint_slice;
mod event;
mod findings;
pub(crate) mod formats;
mod labels;
mod limit_range;
mod node;
mod pod;
mod policy;
mod records;
mod replica_set;
mod resource_quota;
mod service;
mod status;

pub(crate) use check::{is_validated, validate, validate_finalized, validate_status};
use findings::Findings;

use super::place::At;
