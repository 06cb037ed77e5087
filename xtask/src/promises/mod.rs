//! `cargo xtask promises`: runs what `docs/promises.toml` claims and says what was kept.

mod file;
mod run;

pub use file::{Bound, Promise, Promises, PromisesError, State};
pub use run::{Outcome, Verdict, report};
