//! Injection without the operator: a plain set becomes a MutatingAdmissionPolicy, which the API
//! server evaluates itself.

mod cel;
mod injected_by;
mod injector;
mod plain;
mod reconciler;
mod set_policy;
mod stored;
mod tracker;

pub use injected_by::{InjectedBy, POLICY_CONDITION, WebhookReason};
pub(crate) use injected_by::{is_policy_effective, needs_no_webhook};
pub use injector::{Injector, UnknownInjector};
pub use plain::webhook_requirement;
pub(crate) use reconciler::PolicyReconciler;
pub use set_policy::{SetPolicy, set_policy};
