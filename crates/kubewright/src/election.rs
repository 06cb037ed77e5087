//! Leader election: which of several copies of an operator works.

pub use kubewright_runtime::election::{ElectionTimes, Leadership};

pub use crate::operator::{ElectionOptions, LeaderElection};
