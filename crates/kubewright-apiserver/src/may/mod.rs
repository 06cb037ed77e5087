//! What a user may do: role-based access control over the stored roles and bindings.
//!
//! Evaluated are Role, ClusterRole, RoleBinding and ClusterRoleBinding as Kubernetes evaluates
//! them. Of the cluster roles that Kubernetes makes by itself, `cluster-admin`,
//! `system:discovery`, `system:basic-user` and `system:public-info-viewer` and their bindings are
//! there; the other 65, aggregation and the check against escalation are not there yet.

mod access;
mod attributes;
mod bootstrap;
mod forbidden;
mod policies;
mod policy;
mod review;
mod rule;
mod subject;

pub(crate) use access::{Access, Envelope};
pub(crate) use attributes::{Attributes, ResourceTarget, Target};
pub(crate) use bootstrap::bootstrap_objects;
pub(crate) use forbidden::forbidden;
pub(crate) use policy::{Decision, Policy};
pub(crate) use review::{Review, answer_review};
