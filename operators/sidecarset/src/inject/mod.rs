//! What a Pod becomes: a function of the Pod, the sets and their revisions, in the order of its
//! steps.

mod choose;
mod container;
mod expression;
mod hot;
mod metadata;
mod pod;
mod resources;

pub(crate) use expression::{Expression, Unit};
pub(crate) use hot::Half;
pub(crate) use metadata::{Moment, patch_metadata};
pub(crate) use pod::is_injected;
pub use pod::{INJECTED, Surroundings, inject};
