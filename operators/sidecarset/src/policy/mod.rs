//! Injection without the operator: a plain set becomes a MutatingAdmissionPolicy, which the API
//! server follows by itself.

mod expression;
mod injection;
mod keep;
mod memory;
mod object;
mod plain;
mod watched;
mod way;

pub use injection::{Injection, UnknownInjection};
pub(crate) use keep::Policies;
pub use object::{SetPolicy, set_policy};
pub use plain::obstacle;
pub use way::{POLICY_CONDITION, Reason, Way};
pub(crate) use way::{acts, is_by_policy};
