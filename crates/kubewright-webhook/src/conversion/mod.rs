//! Conversion between the versions of a kind, through one of them, so that nothing is lost.

mod kept;
mod versions;

pub use kept::{Kept, Segment, lost, restore, with_unknown};
pub use versions::{Spoke, Translated, Translation, Versions};
