//! The `Status` object, which is the response to failed requests and to deletes, with the exact
//! messages of Kubernetes.

mod cause;
mod failure;
mod group_resource;
mod object;

pub(crate) use cause::quoted;
pub use cause::{Cause, CauseKind};
pub use group_resource::GroupResource;
pub use object::{Details, ListMeta, Outcome, Reason, Status, StatusKind, StatusVersion};
