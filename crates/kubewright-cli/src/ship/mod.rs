//! From the program to a cluster that is there: `manifests`, `install`, `deploy`, and back.

mod answer;
mod arguments;
mod certificate;
mod definitions;
mod deploy;
mod flags;
mod install;
mod manifests;
mod plan;
mod prune;
mod remove;
mod trial;
mod wait;

pub(crate) use arguments::Access;
pub(crate) use deploy::{DeployArguments, UndeployArguments, deploy, undeploy};
pub(crate) use install::{InstallArguments, UninstallArguments, install, uninstall};
pub(crate) use manifests::{ManifestsArguments, manifests};
