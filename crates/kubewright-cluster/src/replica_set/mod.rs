//! ReplicaSets: as many Pods of one kind as are asked for.

mod rank;
mod status;
mod sync;

pub(super) use sync::{ReplicaSets, is_namespace_ending};
