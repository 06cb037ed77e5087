//! The kinds of the group coordination.k8s.io.

mod lease;

pub use lease::LEASE;
