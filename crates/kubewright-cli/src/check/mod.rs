//! `kubewright check`: faults that the compiler does not report, and the API server late or never.
//!
//! [`run`] collects the findings of the other modules, each of which checks one part of the
//! manifests.

mod changes;
mod definition;
mod dry_run;
mod finding;
mod json_path;
mod permission;
mod revision;
mod run;
mod schema;
mod test_requests;
mod webhook;

pub(crate) use run::{CheckArguments, run};
