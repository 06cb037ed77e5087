//! Patches of objects: JSON patch, JSON merge patch, strategic merge patch, and the transfer of
//! changes from a typed object to the raw one.

mod json_patch;
mod merge_patch;
mod rebase;
mod strategic;

pub use json_patch::{JsonPatchError, MAX_DEPTH, depth, json_patch, json_patch_operations};
pub use merge_patch::merge;
pub use rebase::rebase;
pub use strategic::{StrategicPatchError, go_display, strategic_merge};
