//! From the program to a cluster that is there: `manifests`, `install`, `deploy`, and back.

mod arguments;
mod certificate;
mod definition_changes;
mod install;
mod manifest_flags;
mod manifests;
mod plan;
mod prune;
mod remove;
mod report;
mod run;
mod stored_objects;
mod wait;

pub(crate) use arguments::Access;
pub(crate) use install::{InstallArguments, UninstallArguments, install, uninstall};
pub(crate) use manifests::{ManifestsArguments, manifests};
pub(crate) use run::{DeployArguments, UndeployArguments, deploy, undeploy};
