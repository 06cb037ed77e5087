//! The difference between two objects, as a JSON patch.

mod difference;

pub use difference::{PatchOperation, difference};
