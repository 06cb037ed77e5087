//! `kubewright doctor`: which tools are installed, which are missing, and what needs them.

mod requirement;
mod run;
mod version_probe;

pub(crate) use run::{DoctorArguments, run};
