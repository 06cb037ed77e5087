//! The patches that change an object without sending it whole.

mod merge_patch;

pub use merge_patch::merge;
