//! The operator's own program: built by cargo, and asked for its manifests.

mod build;
mod manifests;

pub(crate) use build::{Words, build};
pub(crate) use manifests::manifests;
