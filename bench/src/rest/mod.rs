//! The benchmark `rest`: what MyDaemonSet costs while nothing happens, beside the same in Go.

mod objects;
mod run;

pub(crate) use run::run;
