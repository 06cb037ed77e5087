//! The benchmark `cluster`: the embedded API server, as a process, compared with a real one.

mod measure;
mod report;
mod requests;
mod run;
mod running_server;

pub(crate) use run::run;
