//! `kubewright check`: what the compiler does not say, and the API server late or never.
//!
//! Each file but the first three knows one part of the manifests and the rules for it.

mod changes;
mod finding;
mod run;

mod definition;
mod dry_run;
mod json_path;
mod permission;
mod schema;
mod test_requests;
mod webhook;

pub(crate) use run::{CheckArguments, run};
