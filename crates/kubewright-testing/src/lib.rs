//! Clusters for tests: embedded, real and existing; polling assertions; faults.

mod cluster;
pub mod control_plane;
mod error;
mod faults;
mod kubectl;
mod package;
mod progress;
pub mod real;
mod runner;
mod settings;

pub use cluster::{Capability, Cluster, ClusterBuilder, Object, ObjectScope};
pub use error::Error;
pub use faults::{Fault, Injected};
pub use kubectl::{Kubectl, KubectlOutput};
pub use kubewright_apiserver::User;
pub use kubewright_macros::test;
pub use package::package_variables;
pub use runner::{TestCase, TestOutcome, run};
pub use settings::{ClusterChoice, NodeChoice, OperatorChoice, Settings};
