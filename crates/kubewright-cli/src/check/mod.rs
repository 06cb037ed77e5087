//! `kubewright check`: what neither the compiler nor the API server says before it hurts.
//!
//! Each file but the first three knows one part of the manifests and the rules for it.

mod change;
mod finding;
mod run;

mod definition;
mod path;
mod permission;
mod schema;
mod tests_run;
mod webhook;

pub(crate) use run::{CheckArguments, run};
