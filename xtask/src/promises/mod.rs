//! `cargo xtask promises`: checks the claims in `docs/promises.toml`.

mod bounds;
mod file;
mod run;
mod shell;

pub(crate) use file::Promises;
pub(crate) use run::{Selection, report};
