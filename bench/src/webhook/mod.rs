//! The benchmark `webhook`: a mutating Pod webhook under a steady load, by all subjects.

mod client;
mod load;
mod process;
mod run;

pub(crate) use process::{Identity, free_port};
pub(crate) use run::run;
