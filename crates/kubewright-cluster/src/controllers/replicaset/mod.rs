//! The ReplicaSet controller: creates and deletes Pods until there are as many as `spec.replicas`.

mod controller;
mod pods;
mod rank;
mod status;

pub(crate) use controller::ReplicaSetController;
