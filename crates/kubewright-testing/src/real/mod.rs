//! A real control plane as processes on loopback, which never outlive this process.

mod access;
mod authorization;
mod flags;
mod guard;
mod kubeconfig;
mod options;
mod process;
mod run_folder;
mod running;

pub use kubeconfig::{Credentials, Kubeconfig};
pub use options::{AuthorizerAddress, Components, RealOptions};
pub use running::RealCluster;
