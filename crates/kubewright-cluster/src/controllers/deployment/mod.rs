//! The Deployment controller: rolls out a new ReplicaSet for each template, a few Pods at a time.
//!
//! The steps are those of pkg/controller/deployment, one write after the other. Each write
//! enqueues the Deployment again, so that the next step sees the result of the last one.

mod controller;
mod new_set;
mod progress;
mod resize;
mod revision;
mod rollout;
mod status;
mod template;
mod write;

pub(crate) use controller::DeploymentController;
