//! The operator's own program: built by cargo, and asked for its manifests.

mod build;
mod cargo;
mod fitting;
mod manifests;
mod package;
mod target;

pub(crate) use build::{Build, Words, build, build_into};
pub(crate) use cargo::cargo;
pub(crate) use fitting::{Fitting, NO_POLICIES, fitting};
pub(crate) use manifests::manifests;
pub(crate) use package::{Package, package};
pub(crate) use target::static_target;
