//! Sidecars for running Pods: OpenKruise's SidecarSet, with its webhooks.
//!
//! A set is filled in and checked when it is written; its containers are put into each Pod that it
//! selects when that Pod is created; its status counts the Pods.

mod check;
mod container;
mod count;
mod defaults;
mod hash;
mod inject;
mod kind;
mod operator;
mod selector;

pub use check::check;
pub use count::count;
pub use defaults::fill_in;
pub use hash::{HASH_ANNOTATION, Injected, injected, spec_hash};
pub use inject::{Conflict, INJECTED, inject};
pub use kind::{PodInjectPolicy, SidecarContainer, SidecarSet, SidecarSetSpec, SidecarSetStatus};
pub use operator::operator;
pub use selector::selects;
