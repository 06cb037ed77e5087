//! Conversion between the versions of a kind through a hub, without loss of data.

mod lost;
mod versions;

pub use lost::{LostValue, Segment, lost, restore, with_unknown};
pub use versions::{ConversionFn, ConversionOutput, Spoke, Versions};
