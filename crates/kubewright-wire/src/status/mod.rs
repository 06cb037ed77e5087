//! The `Status` object that the API server answers with when there is nothing else to answer,
//! above all when a request fails, with the exact messages of Kubernetes.

mod cause;
mod failure;
mod object;

pub(crate) use cause::quoted;
pub use cause::{Cause, CauseKind};
pub use failure::GroupResource;
pub use object::{Details, ListMeta, Outcome, Reason, Status, StatusKind, StatusVersion};
