//! The programs that are measured: how they are built, and how one of them is run.

mod build;
mod name;
mod run;

pub(crate) use build::{Builder, Built};
pub(crate) use name::Subject;
pub(crate) use run::{Launch, run};
