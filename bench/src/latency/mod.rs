//! The benchmark `latency`: how soon an object that was created is reconciled, by all subjects.

mod create;
mod run;

pub(crate) use run::run;
