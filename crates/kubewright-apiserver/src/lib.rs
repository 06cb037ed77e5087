//! The embedded Kubernetes: API server, store, and what a cluster does by itself.

mod may;
pub mod pki;
pub mod store;
mod who;

pub use who::User;
