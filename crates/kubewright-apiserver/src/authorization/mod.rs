//! Authorization: role-based access control over the stored roles and bindings, and a webhook.
//!
//! `rbac` decides by the stored roles and bindings, among them those of `bootstrap` that every
//! cluster has from its start; `rule` and `subject` match their parts. `webhook` decides before it,
//! where one is configured, and `authorizer` combines both. `grant` denies a role or binding that
//! grants more than its author has. `review` and `rules_review` fill in access reviews.

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

pub(crate) use attributes::{AccessAttributes, AccessTarget, ResourceTarget};
pub(crate) use authorizer::{Authorizer, Denied};
pub(crate) use bootstrap::bootstrap_objects;
pub(crate) use grant::Grant;
#[cfg(test)]
use rbac::Rbac;
pub(crate) use review::{Review, ReviewRequest};
pub use webhook::{AuthorizationFailure, AuthorizationWebhook, CacheTtl};
