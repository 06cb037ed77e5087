//! The cluster as its clients see it: plain HTTP requests to the API server, virtual time.

#[path = "../../../kubewright-apiserver/tests/it/caller.rs"]
mod caller;
mod controllers;
mod deletion;
mod grants;
mod many;
mod nodes;
mod placing;
mod traffic;
mod workloads;
mod world;
