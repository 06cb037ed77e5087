//! The operator's program: how it is built, and the manifests that it prints.

mod build;
mod cargo;
mod manifests;
mod manifests_for_cluster;
mod package;
mod static_target;

pub(crate) use build::{Build, BuildOutput, build, build_into};
pub(crate) use cargo::cargo;
pub(crate) use manifests::manifests;
pub(crate) use manifests_for_cluster::{ClusterManifests, NO_POLICIES, manifests_for_cluster};
pub(crate) use package::{Package, package};
pub(crate) use static_target::static_target;
