//! `kubewright doctor`: what is installed, what is missing, and what that costs.

mod report;
mod requirement;
mod version_probe;

pub(crate) use report::{DoctorArguments, run};
