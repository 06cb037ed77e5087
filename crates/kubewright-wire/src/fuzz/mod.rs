//! What must hold of every input, as functions over bytes: each reads what it can, and falls over
//! only where a promise is broken.
//!
//! The tests of this workspace run them over a folder of inputs and seeded changes of these
//! ([`Mutations`]), `fuzz/` runs them under cargo-fuzz.

#[cfg(feature = "tables")]
mod apply;
mod corpus;
mod merge;
mod mutations;
mod selectors;
#[cfg(feature = "tables")]
mod strategic;
mod yaml;

#[cfg(feature = "tables")]
pub use apply::apply;
pub use corpus::corpus;
pub use merge::merge;
pub use mutations::Mutations;
pub use selectors::selectors;
#[cfg(feature = "tables")]
pub use strategic::strategic;
pub use yaml::yaml;
