//! The programs of the subjects: builds and runs them.

mod build;
mod run;

pub(crate) use build::{Builder, Built, remove_package_variables};
pub(crate) use run::{CacheArguments, measure, run_cache, tail};
