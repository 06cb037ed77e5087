//! `kubewright check`: what the compiler does not say, and the API server late or never.
//!
//! Each file but the first three knows one part of the manifests and the rules for it.

mod change;
mod finding;
mod run;

mod definition;
mod path;
mod permission;
mod refusal;
mod schema;
mod tests_run;
mod webhook;

pub(crate) use run::{CheckArguments, run};
