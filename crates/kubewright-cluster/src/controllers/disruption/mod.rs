//! The disruption controller: how many Pods of each PodDisruptionBudget may be evicted.

mod controller;
mod expectation;
mod status;

pub(crate) use controller::DisruptionController;
