//! Properties that hold for every input, as functions over bytes, for cargo-fuzz and for seeded tests.
//!
//! Each target reads what it can of its input and panics only where its property does not hold.
//! `fuzz/` runs the targets under cargo-fuzz. `cargo test` runs them over the inputs of
//! `fuzz/seeds` and over seeded changes of these ([`Mutations`]).

mod apply;
mod cel;
mod continue_token;
mod corpus;
mod json;
mod json_patch;
mod merge;
mod mutations;
mod selectors;
mod strategic;
mod yaml;

pub use apply::apply;
pub use cel::{EvaluatedCel, cel, evaluate_cel};
pub use continue_token::continue_token;
pub use corpus::corpus;
pub use json::json;
pub use json_patch::json_patch;
pub use merge::merge;
pub use mutations::Mutations;
pub use selectors::selectors;
pub use strategic::strategic;
pub use yaml::yaml;
