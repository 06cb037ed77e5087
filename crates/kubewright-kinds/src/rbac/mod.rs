//! The kinds of the group rbac.authorization.k8s.io.

mod aggregation;
mod binding;
mod cluster_role;
mod cluster_role_binding;
mod role;
mod role_binding;
mod rules;

pub use aggregation::aggregated_rules;
pub use cluster_role::CLUSTER_ROLE;
pub use cluster_role_binding::CLUSTER_ROLE_BINDING;
pub use role::ROLE;
pub use role_binding::ROLE_BINDING;
