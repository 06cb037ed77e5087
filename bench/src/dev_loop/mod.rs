//! The benchmark `loop`: build times of MyDaemonSet, in Rust and in Go.

mod copy;
mod project;
mod run;

pub(crate) use run::run;
