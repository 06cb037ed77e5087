//! Clusters for tests: embedded, real and existing; polling assertions; the differential suite.

mod cluster;
pub mod control_plane;
pub mod differential;
mod error;
mod faults;
mod progress;
pub mod real;
mod runner;
mod settings;

pub use cluster::{Capability, Cluster, ClusterBuilder, Object, ObjectScope};
pub use error::Error;
pub use faults::{Fault, Injected};
pub use kubewright_apiserver::User;
pub use kubewright_macros::test;
pub use runner::{TestCase, TestOutcome, run};
pub use settings::{Choice, Settings};
