//! The patches that change an object without sending it whole, and what a function did to one.

mod merge_patch;
mod rebase;
mod strategic;

pub use merge_patch::merge;
pub use rebase::rebase;
pub use strategic::{StrategicPatchError, printed, strategic_merge};
