//! The operator's own program: built by cargo, and asked for its manifests.

mod build;
mod cargo;
mod manifests;
mod manifests_for_cluster;
mod package;
mod target;

pub(crate) use build::{Build, Words, build, build_into};
pub(crate) use cargo::cargo;
pub(crate) use manifests::manifests;
pub(crate) use manifests_for_cluster::{ClusterManifests, NO_POLICIES, manifests_for_cluster};
pub(crate) use package::{Package, package};
pub(crate) use target::static_target;
