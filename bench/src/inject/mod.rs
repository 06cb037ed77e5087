//! The benchmark `inject`: each subject handles an admission review in its process.

mod patched_pod;
mod run;

pub(crate) use patched_pod::patched_checksum;
pub(crate) use run::{fixture, run};
