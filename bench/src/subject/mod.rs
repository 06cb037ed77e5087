//! The programs that are measured: how they are built, and how one of them is run.

mod build;
mod name;
mod run;

pub(crate) use build::{Builder, Built, forget_this_package};
pub(crate) use name::Subject;
pub(crate) use run::{Launch, run, tail};
