//! The embedded Kubernetes: API server, store, and what a cluster does by itself.

pub mod pki;
pub mod store;
