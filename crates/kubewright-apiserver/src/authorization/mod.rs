//! Authorization: role-based access control over the stored roles and bindings, and a webhook.
//!
//! Role, ClusterRole, RoleBinding and ClusterRoleBinding are evaluated as Kubernetes evaluates
//! them, with the ones that every cluster has from its start. No user can write a role or binding
//! that grants more than the user has.

mod attributes;
mod authorizer;
mod bootstrap;
mod cover;
mod forbidden;
mod grant;
mod impersonation;
mod rbac;
mod rbac_cache;
mod review;
mod rule;
mod rules_review;
mod subject;
mod webhook;
mod webhook_cache;

pub(crate) use attributes::{Attributes, ResourceTarget, Target};
pub(crate) use authorizer::{Authorizer, Denied};
pub(crate) use bootstrap::bootstrap_objects;
pub(crate) use grant::Grant;
pub(crate) use rbac::Rbac;
pub(crate) use review::Review;
pub use webhook::{AuthorizationFailure, AuthorizationWebhook, CacheTtl};
