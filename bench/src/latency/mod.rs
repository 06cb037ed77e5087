//! The benchmark `latency`: the time from the creation of an object to its reconciliation.

mod config_maps;
mod run;

pub(crate) use run::run;
