//! The benchmark `inject`: an admission review answered in process, by all subjects.

mod patched;
mod run;

pub(crate) use patched::patched_checksum;
pub(crate) use run::{material, run};
