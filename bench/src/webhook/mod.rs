//! The benchmark `webhook`: a mutating webhook for Pods under a constant load.

mod connection;
mod load;
mod process;
mod run;

pub(crate) use process::{Identity, free_port};
pub(crate) use run::run;
