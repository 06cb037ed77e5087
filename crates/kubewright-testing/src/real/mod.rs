//! A real control plane as processes on loopback: started, reached, and surely ended.

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
pub use options::{AuthorizerAddress, Parts, RealOptions};
pub use running::RealCluster;
