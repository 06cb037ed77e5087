//! Deployments: from one ReplicaSet to the next, a few Pods at a time.
//!
//! The steps are those of pkg/controller/deployment, one write after the other; each write brings
//! the Deployment back, so that the next step sees what the last one did.

mod progress;
mod resize;
mod revision;
mod rollout;
mod status;
mod sync;
mod write;

pub(super) use sync::Deployments;
