//! The benchmark `loop`: how long a developer waits for a build of MyDaemonSet, beside the same
//! in Go.

mod build;
mod copy;
mod run;

pub(crate) use run::run;
