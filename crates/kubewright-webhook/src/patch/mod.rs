//! What a function did to an object, as a JSON patch for the object that was sent.

mod difference;
mod rebase;

pub use difference::{PatchOperation, difference};
pub use rebase::rebase;
