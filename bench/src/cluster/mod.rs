//! The benchmark `cluster`: the embedded API server as a process, beside the real one.

mod load;
mod measure;
mod report;
mod run;
mod subject;

pub(crate) use run::run;
