//! What a Pod becomes: a function of the Pod, the sets and their revisions, in the order of its
//! steps.

mod choose;
mod container;
mod expression;
mod hot;
mod metadata;
mod pod;
mod resources;

pub(crate) use choose::base_of;
pub(crate) use container::container;
pub(crate) use expression::{Expression, Unit};
pub(crate) use hot::Half;
pub(crate) use metadata::{Moment, patch_metadata};
#[cfg(test)]
pub(crate) use pod::tests;
pub use pod::{INJECTED, Surroundings, inject};
pub(crate) use pod::{entry, is_injected};
