//! From a program to an existing cluster and back: `manifests`, `install`, `uninstall`, `deploy`,
//! `undeploy`.
//!
//! The commands get manifests from the program ([`manifest_flags`]), compare them with the cluster
//! ([`plan`], [`definition_changes`]), apply them, wait ([`wait`]), and delete what is left over
//! ([`prune`], [`remove`]). What happened to each object is their result ([`report`]).

mod arguments;
mod certificate;
mod definition;
mod definition_changes;
mod install;
mod manifest_flags;
mod manifests;
mod output_files;
mod plan;
mod prune;
mod remove;
mod report;
mod run;
mod stored_objects;
mod undeploy;
mod uninstall;
mod wait;

pub(crate) use install::{InstallArguments, install};
pub(crate) use manifests::{ManifestsArguments, manifests};
pub(crate) use run::{DeployArguments, deploy};
pub(crate) use undeploy::{UndeployArguments, undeploy};
pub(crate) use uninstall::{UninstallArguments, uninstall};
