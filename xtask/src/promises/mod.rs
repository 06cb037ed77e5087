//! `cargo xtask promises`: runs what `docs/promises.toml` claims and says what was kept.

mod file;
mod run;

pub(crate) use file::{Promise, Promises, State};
pub(crate) use run::report;
