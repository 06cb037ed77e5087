//! What the writer of an object of one of Kubernetes' own kinds is told although nothing is wrong
//! with it, in Kubernetes' words and order (`WarningsOnCreate` and `WarningsOnUpdate` of the
//! strategies in `pkg/registry` of k8s.io/kubernetes).

mod addresses;
mod amounts;
mod key_pair;
mod network;
mod node_labels;
mod pod;
mod records;
mod service;
mod storage;
mod tell;
mod told;
mod workload;

pub(super) use addresses::lenient;
pub(crate) use tell::{status_warnings, warnings};
use told::Told;

use super::place::At;
