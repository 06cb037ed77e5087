//! The benchmark `rest`: memory and processor time of MyDaemonSet while it is idle.

mod run;
mod workload;

pub(crate) use run::run;
