//! Injection: a function of the Pod, the sets and their revisions, in the order of its steps.

mod context;
mod expression;
#[cfg(test)]
pub(crate) mod fixtures;
mod hot_upgrade;
mod metadata;
mod pod;
mod pod_containers;
mod resources;
mod set_versions;
mod sidecar_container;

pub use context::InjectionContext;
pub(crate) use expression::{Expression, Unit};
pub(crate) use hot_upgrade::Half;
pub(crate) use metadata::{Occasion, patch_metadata};
pub use pod::inject;
pub(crate) use pod::injection_of;
pub use pod_containers::INJECTED;
pub(crate) use sidecar_container::sidecar_container;
