//! What a user may do: role-based access control over the stored roles and bindings.
//!
//! Evaluated are Role, ClusterRole, RoleBinding and ClusterRoleBinding as Kubernetes evaluates
//! them, beginning with those that a cluster has from its start. Nobody writes a role or binding
//! that gives more than he has.

mod access;
mod aggregate;
mod answers;
mod attributes;
mod authorizer;
mod bootstrap;
mod cover;
mod forbidden;
mod grant;
mod policies;
mod policy;
mod review;
mod rule;
mod rules_review;
mod subject;

pub(crate) use access::{Access, Envelope};
pub(crate) use aggregate::aggregated_rules;
pub(crate) use answers::Answers;
pub(crate) use attributes::{Attributes, ResourceTarget, Target};
pub(crate) use authorizer::Refusal;
pub use authorizer::{AnswerTimes, AuthorizationFailure, AuthorizationWebhook};
pub(crate) use bootstrap::bootstrap_objects;
pub(crate) use forbidden::forbidden;
pub(crate) use grant::Grant;
pub(crate) use policy::{Decision, Policy};
pub(crate) use review::{Review, answer_review};
