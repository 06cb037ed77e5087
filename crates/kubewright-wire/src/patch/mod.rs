//! The patches that change an object without sending it whole.

mod merge_patch;
mod strategic;

pub use merge_patch::merge;
pub use strategic::{StrategicPatchError, printed, strategic_merge};
