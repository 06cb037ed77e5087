//! `kubewright doctor`: what is installed, what is missing, and what that costs.

mod ask;
mod report;
mod subject;

pub(crate) use report::{DoctorArguments, run};
